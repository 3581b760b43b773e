"""rldebug verify: a function beside the right one, and the mistake by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
rldebug verify --list                    # the components
rldebug verify gae mypkg.ppo:compute_gae
rldebug verify gae odd.py:f --map reward=x value=y
rldebug verify gae ppo.py:gae --write-test tests/test_gae.py
"""
PAGE = "how-to/verify.md"


def verify(
    component: Annotated[
        str | None, typer.Argument(metavar="COMPONENT", help="gae, dqn-target, replay-buffer …: --list names them.")
    ] = None,
    target: Annotated[
        str | None, typer.Argument(metavar="TARGET", help="module:function or path/to/file.py:function, or a class.")
    ] = None,
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="WHAT=ARGUMENT", help="What an argument is: reward=r; may be repeated."),
    ] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="WHAT=ARGUMENT", help="More of what --map takes.")] = None,
    drawn: Annotated[int, typer.Option(min=0, help="Cases drawn at random after the fixed ones.")] = 60,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
    write_test: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a test that verifies it, for pytest, and stop.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the components, or what is known of one, and stop.")
    ] = False,
) -> None:
    """Compare a function of yours with the right one.

    Argument names, layouts and conventions are recognised, and printed. Where the two differ, the smallest case is
    shown as a table, and the mistake is named. Classes (buffers, normalisers) are verified too.

    Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run.
    """
    from rldebug.oracles.shelf import find
    from rldebug.render.verify import print_components, print_verification
    from rldebug.target import TargetError, is_target

    if list_:
        print_components(None if component is None else find(component))
        return
    if component is not None and is_target(component):
        raise TargetError(f"{component} is no component: expected rldebug verify COMPONENT TARGET, the target last")
    if component is None or target is None:
        raise TargetError("what is to be verified, and as what? For example: rldebug verify gae mypkg.ppo:compute_gae")

    from rldebug.config import read_config
    from rldebug.render.json import write_json
    from rldebug.render.terminal import print_report
    from rldebug.verify import examine, mapping, report_on, write_test_file

    given = mapping([*(map_ or ()), *(more or ())])
    if write_test is not None:
        typer.echo(write_test_file(component, target, given, write_test))
        return
    found = examine(component, target, map=given, drawn=drawn)
    report = report_on(found, read_config())
    if json != "-":
        print_verification(found)
        print_report(report, to_stdout=True)
    if json is not None:
        write_json(report, json)
    raise typer.Exit(report.exit or 0)
