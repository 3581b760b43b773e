"""rldebug report: the diagnosis of a recorded run."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="A run folder, or a name under .rldebug/runs; the newest if left out."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page that opens offline.")] = None,
    skipped: Annotated[bool, typer.Option("--skipped", help="List the rules that could not run, and why.")] = False,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
    select: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Only this rule; may be repeated.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Not this rule; may be repeated.")] = None,
) -> None:
    """Diagnose a recorded run, of rldebug.watch, run or profile; also one that was killed, or still goes on.

    Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run.
    """
    from rldebug.catalogue import find
    from rldebug.config import asked_for, read_config
    from rldebug.evidence.folder import find_run, open_run
    from rldebug.evidence.run import RunError
    from rldebug.recorded import as_shown, examine, recorded
    from rldebug.render.json import write_json
    from rldebug.render.terminal import print_report
    from rldebug.timed import write_pages

    seen = recorded(find_run(run))
    if not seen.evidences:
        open_run(run)  # says why there is nothing in it
    if seen.empty:
        nothing = "no step of an environment or an optimizer was seen: there is nothing to check"
        raise RunError("; ".join((nothing, *seen.problems)))
    found = examine(seen, asked_for(read_config(), select or (), ignore or ()), "report")
    found = dataclasses.replace(found, exit=0 if found.clean else 1)
    if seen.timing is not None and json != "-":
        from rldebug.render.profile import print_profile

        print_profile(seen.timing, found, file=sys.stdout)
    if json != "-":
        print_report(as_shown(found), run=seen.run, to_stdout=True)
    if skipped and json != "-":
        for code, reason in found.skipped.items():
            typer.echo(f"{code} {find(code).name}: {reason}")
    if html is not None:
        for page in write_pages(found, seen, html):
            typer.echo(f"page: {page}", err=True)
    if json is not None:
        write_json(found, json)
    raise typer.Exit(found.exit or 0)
