"""rldebug lint: mistakes that can be read from the source, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rldebug.commands.completion import rules

EXAMPLES = """
rldebug lint train.py agents/
rldebug lint --fix train.py
rldebug lint . --ignore SEE605 --sarif lint.sarif
rldebug lint . --json - | jq .findings
"""
PAGE = "how-to/lint.md"


def lint(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Python files, and folders of them.")],
    fix: Annotated[bool, typer.Option("--fix", help="Write the mends that are certain into the files.")] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE|NAME", help="Only these rules; may be repeated.", autocompletion=rules),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE|NAME", help="Without these rules; may be repeated.", autocompletion=rules),
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
    sarif: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write SARIF, for code-hosting sites; - is stdout.")
    ] = None,
) -> None:
    """Find mistakes in source files, without running them.

    Mistakes of reinforcement learning, by data flow: gradients clipped after the step, a target network that loads its
    own weights, returns summed in the wrong direction.

    `# rldebug: ignore[name]` at the end of a line silences a rule there, `# rldebug: ignore-file[name]` in the file.

    Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run, or a file could not be read.
    """
    from rldebug import lint as linter
    from rldebug.config import asked_for, read_config
    from rldebug.render.json import write_json
    from rldebug.render.lint import print_linted
    from rldebug.render.sarif import write_sarif

    config = asked_for(read_config(), select or (), ignore or ())
    linted = linter.lint(paths, config)
    linted, mends = linter.fix(linted, config) if fix else (linted, [])
    if "-" not in (json, sarif):
        print_linted(linted, mends, fixed=fix)
    if json is not None:
        write_json(linted.report, json)
    if sarif is not None:
        write_sarif(linted.report, sarif)
    raise typer.Exit(linted.report.exit or 0)
