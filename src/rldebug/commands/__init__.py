"""The command line: one file per command, found by walking this package; its function of the same name is the command.

A command parses, calls, prints. What is heavy (torch, plotly) is imported inside it: `rldebug --help` need not wait.
Beside the function a module has EXAMPLES, lines to type, and PAGE, where in docs/ to read more: both end its --help.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

if TYPE_CHECKING:
    import typer

EXAMPLES = """
rldebug demo                     # a planted bug, named: a minute
rldebug run train.py --seed 1    # instead of: python train.py --seed 1
rldebug lint train.py            # without running it
rldebug explain < log.txt        # what a traceback means
rldebug explain ADV003           # the page of a finding
"""
_HELP = """Find the bug in reinforcement-learning code written in PyTorch, and name it.

`rldebug COMMAND --help` tells of each command, with examples.

Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run. Of run and profile: the program's own.
"""
_PLAIN = {"--quiet": "quiet", "--record-only": "record_only", "--live": "live", "--profile": "profile"}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run."""
    try:
        _run_at_once(sys.argv[1:] if arguments is None else arguments)
        application()(args=None if arguments is None else list(arguments), prog_name="rldebug")
    except Exception as error:
        if os.environ.get("RLDEBUG_TRACEBACK"):
            traceback.print_exc()
        print(f"rldebug: {_in_words(error)}", file=sys.stderr)
        sys.exit(2)
    sys.exit(0)


def _run_at_once(words: Sequence[str]) -> None:
    """`rldebug run train.py …` or `rldebug profile train.py …` with few options, or none. Whose time is short is the
    program that is watched: to load what parses options takes longer than all the rest."""
    if not words or words[0] not in ("run", "profile"):
        return
    plain = _PLAIN if words[0] == "run" else {"--quiet": "quiet"}
    given: dict[str, Any] = {}
    place = 1
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        if word in plain:
            given[plain[word]] = True
        elif word in ("--folder", "--name") and place + 1 < len(words):
            place += 1
            given[word[2:]] = Path(words[place]) if word == "--folder" else words[place]
        else:
            return
        place += 1
    if place < len(words) and words[0] == "profile":
        from rldebug.config import read_config
        from rldebug.profile import Asked, profile

        profile(Asked(program=tuple(words[place:]), **given), read_config())
    elif place < len(words):
        from rldebug.run import run
        from rldebug.wishes import Wishes

        run(Wishes(program=tuple(words[place:]), **given))


def application() -> typer.Typer:
    import typer
    from typer.completion import completion_init  # type: ignore[attr-defined,unused-ignore]

    def options(version: bool = False) -> None:
        """Options that come before a command."""

    told = typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    options.__annotations__ = {"version": Annotated[bool, told], "return": None}
    app = typer.Typer(
        help=_HELP,
        epilog=_end_of_help(EXAMPLES, "index.md"),
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: drawing boxes would double the start-up
    )
    app.callback()(options)
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        epilog = _end_of_help(getattr(module, "EXAMPLES", ""), getattr(module, "PAGE", ""))
        app.command(info.name.replace("_", "-"), cls=getattr(module, "Command", None), epilog=epilog)(
            getattr(module, info.name)
        )
    completion_init()  # for the scripts of `rldebug completion`
    return app


def _end_of_help(examples: str, page: str) -> str:
    """\\b keeps a paragraph as it is written."""
    told = f"\b\nExamples:\n{indent(examples.strip(), '  ')}\n\n" if examples else ""
    return told + (f"Read more: docs/{page}" if page else "")


def _print_version(wanted: bool) -> None:
    if wanted:
        import typer

        import rldebug

        typer.echo(f"rldebug {rldebug.__version__}")
        raise typer.Exit


def _in_words(error: Exception) -> str:
    """Our own errors say what was expected; others are ours to explain."""
    if type(error).__module__.partition(".")[0] == "rldebug":
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
    last = f"{type(error).__name__}: {error}"
    theirs = _users_line(error)
    if theirs is not None:
        return f"{last} ({theirs}; RLDEBUG_TRACEBACK=1 shows more)"
    return f"this is a bug in rldebug, not in your program: {last} (RLDEBUG_TRACEBACK=1 shows where)"


def _users_line(error: Exception) -> str | None:
    """The line of the user's own code that raised it, or called what did: not one of rldebug's, nor of a library's."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = os.path.abspath(frame.filename)
        if file.startswith(ours):
            continue
        if "site-packages" not in file and not file.startswith((sys.prefix, sys.base_prefix)) and os.path.exists(file):
            return f"{os.path.relpath(file)}:{frame.lineno}"
    return None
