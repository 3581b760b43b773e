"""rldebug explain: the page of a rule, a metric or a probe; or what an error means, from its text."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from rldebug.commands.completion import entries

EXAMPLES = """
rldebug explain ADV003                   # or advantage-sign-flipped
rldebug explain policy/entropy_rel       # a metric
rldebug explain < log.txt
python train.py 2>&1 | rldebug explain
"""
PAGE = "how-to/explain.md"
_EXAMPLE = "python train.py 2>&1 | rldebug explain"


class NoErrorError(Exception):
    """A text in which no error was found; the message says what was expected."""


def explain(
    entry: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE|NAME|FILE|-",
            help="ENT001, entropy-collapse, policy/entropy_rel …; or a file with a traceback, - or nothing for stdin.",
            autocompletion=entries,
        ),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="Of a traceback: write the report as JSON; - is stdout.")
    ] = None,
) -> None:
    """Print the page of a finding, or say what an error means.

    Rules, metrics and probes have a page: it tells what is checked, likely causes, what to try first, when it is fine,
    and thresholds. An error is given as text: a traceback as it stands in a terminal, a log, a notebook or the output
    of pytest; its last line alone, or a warning, will do.

    Exit status: 0 a page, 1 an error that was explained, 2 no such page, or no error in the text.
    """
    if entry is not None and entry != "-" and not Path(entry).is_file():
        from rldebug import catalogue
        from rldebug.render.explain import print_page

        try:
            print_page(catalogue.find(entry))
        except catalogue.Unknown:
            if Path(entry).is_dir() or Path(entry).suffix or os.sep in entry:
                what = "is a folder" if Path(entry).is_dir() else "no such file, and no rule is called so"
                raise NoErrorError(f"{entry}: {what}; expected a code, a name, or a file with a traceback") from None
            raise
        return
    _explain_text(_read(entry), json)


def _read(entry: str | None) -> str:
    if entry is not None and entry != "-":
        return Path(entry).read_text(encoding="utf-8", errors="replace")
    if sys.stdin.isatty():
        typer.echo("rldebug: paste the traceback, then press Ctrl-D on a line of its own", err=True)
    return sys.stdin.buffer.read().decode("utf-8", errors="replace")


def _explain_text(text: str, json: str | None) -> None:
    from rldebug.config import read_config
    from rldebug.explain import judge_text
    from rldebug.render.json import write_json
    from rldebug.render.note import print_explained

    if not text.strip():
        raise NoErrorError(f"there is no text to explain; for example: {_EXAMPLE}")
    report, crashes = judge_text(text, read_config())
    if not report.findings:
        known = f"no rule knows {crashes[0].said}" if crashes else "no error was recognised in the text"
        raise NoErrorError(f"{known}; expected a traceback, its last line, or a warning, for example: {_EXAMPLE}")
    if json != "-":
        print_explained(report, crashes)
    if json is not None:
        write_json(report, json)
    raise typer.Exit(1 if report.findings else report.exit or 0)  # also of a note: it was asked for
