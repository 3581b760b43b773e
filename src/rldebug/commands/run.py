"""rldebug run: a program as it is, watched and diagnosed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from rldebug.commands.completion import rules

EXAMPLES = """
rldebug run train.py --seed 1            # instead of: python train.py …
rldebug run --html report.html -m mypkg.train --env CartPole-v1
rldebug run --quiet --fail-on warning train.py      # in CI
torchrun --nproc-per-node 2 -m rldebug run train.py
"""
PAGE = "how-to/run.md"
_excepthook = sys.excepthook


class Command(TyperCommand):
    """Our options end where the program begins: all that comes after it is its own, also --help and --json."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with_value = {name for each in self.params if not getattr(each, "is_flag", True) for name in each.opts}
        place = 0
        while place < len(args):
            word = args[place]
            if word == "--":
                return super().parse_args(ctx, args)
            if word.startswith("-m") and word != "-":
                program = ["-m", *([word[2:]] if len(word) > 2 else []), *args[place + 1 :]]
                return super().parse_args(ctx, [*args[:place], "--", *program])
            if not word.startswith("-") or word == "-":
                return super().parse_args(ctx, [*args[:place], "--", *args[place:]])
            if self._unknown(ctx, word):
                ctx.fail(
                    f"No such option: {word}\nOptions of the program come after it: rldebug {self.name} SCRIPT {word} …"
                )
            place += 2 if word in with_value else 1
        return super().parse_args(ctx, args)

    def _unknown(self, ctx: Any, word: str) -> bool:
        known = {name for each in self.params for name in (*each.opts, *each.secondary_opts)} | set(
            ctx.help_option_names
        )
        return word.startswith("--") and word.partition("=")[0] not in known

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        return [] if ctx.params.get("program") else super().shell_complete(ctx, incomplete)


def run(
    program: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCRIPT", help="A script and its arguments, or -m MODULE and its own."),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout, after the program.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page that opens offline.")] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw the backward graph of an early update.")
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Time it too, and say what would speed it up; see `rldebug profile`.")
    ] = False,
    fail_on: Annotated[
        str | None, typer.Option(metavar="warning|error", help="Exit with 3 where there is such a finding, or a worse.")
    ] = None,
    stop_on: Annotated[
        str | None, typer.Option(metavar="warning|error", help="End the program with 3 as soon as one is certain.")
    ] = None,
    creation_sites: Annotated[
        bool,
        typer.Option("--creation-sites", help="Keep the line that made each part of a graph, for errors of autograd."),
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Show how it goes, and what is found, while the program runs.")
    ] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Open a page that follows the run; see `rldebug dashboard`.")
    ] = False,
    render_toggle: Annotated[
        bool,
        typer.Option(
            "--render-toggle", help="Watch it play: the key r, or `touch RUN/toggle-render`, starts and stops it."
        ),
    ] = False,
    frames: Annotated[
        int, typer.Option(min=0, metavar="N", help="Keep what a network is given, every Nth time; 0: never.")
    ] = 1000,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write what is measured there too, while the program runs.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print a report only where something is wrong.")] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Only this rule, by code or name; may be repeated.", autocompletion=rules),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Not this rule; may be repeated.", autocompletion=rules),
    ] = None,
    record_only: Annotated[
        bool, typer.Option("--record-only", help="Record, and leave the diagnosis to `rldebug report`.")
    ] = False,
    overhead_budget: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Of the program's time that watching may take: 0.03, or 3%.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="HOOK", help="Leave these alone: environments, networks, backward, …; may be repeated."),
    ] = None,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Where runs are kept, each in a folder of its own.")
    ] = Path(".rldebug/runs"),
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What this run is called; as the script, unless given.")
    ] = None,
) -> None:
    """Run a program as it is, and say what is wrong with it.

    It runs exactly as `python SCRIPT` runs it, and is watched: environments, networks, losses, optimizers. When it
    ends, crashes or is stopped, the diagnosis goes to stderr, and the run stays in .rldebug/runs.

    Options of rldebug come before the script; everything after it is the script's own. With torchrun, each process has
    a folder of its own.

    Exit status: the program's own; 3 where --fail-on or --stop-on found something; 2 also where it could not be run.
    """
    sys.excepthook = _excepthook  # Typer has put its own there

    from rldebug.run import run as run_program
    from rldebug.wishes import Wishes

    run_program(
        Wishes(
            program=tuple(program or ()),
            folder=folder,
            name=name,
            json=json,
            html=html,
            graph=_picture(graph),
            profile=profile,
            fail_on=_severity(fail_on, "--fail-on"),
            stop_on=_severity(stop_on, "--stop-on"),
            creation_sites=creation_sites,
            live=live,
            dashboard=dashboard,
            render_toggle=render_toggle,
            frames=frames,
            tensorboard=_event_files(tensorboard),
            quiet=quiet,
            record_only=record_only,
            select=tuple(select or ()),
            ignore=tuple(ignore or ()),
            overhead_budget=_share(overhead_budget),
            without=_hooks(without or ()),
        )
    )


class OptionError(Exception):
    """An option that cannot be understood; the message says what was expected."""


def _severity(given: str | None, option: str) -> Literal["warning", "error"] | None:
    if given is None or given == "warning" or given == "error":
        return given  # type: ignore[return-value]
    raise OptionError(f"{option} is {given!r}, expected warning or error")


def _picture(given: Path | None) -> Path | None:
    """Said before the program runs, not after days."""
    if given is not None and given.suffix.lower() != ".svg":
        raise OptionError(f"--graph is {str(given)!r}, expected a file that ends in .svg")
    if given is not None and find_spec("igraph") is None:
        raise OptionError("--graph needs igraph, which is not installed: pip install 'rldebug[graph]'")
    return given


def _event_files(given: Path | None) -> Path | None:
    if given is not None and find_spec("tensorboard") is None:
        raise OptionError("--tensorboard needs tensorboard, which is not installed: pip install 'rldebug[tensorboard]'")
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
    return given


def _share(given: str | None) -> float | None:
    """0.03, or 3%."""
    if given is None:
        return None
    try:
        number = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise OptionError(f"--overhead-budget is {given!r}, expected a share of the program's time, like 0.03 or 3%")
    return number


def _hooks(given: Sequence[str]) -> tuple[str, ...]:
    """Those that can be left out."""
    from rldebug.capture.switch import GROUPS

    for each in given:
        if each not in GROUPS:
            raise OptionError(f"--without {each}: expected one of {', '.join(GROUPS)}")
    return tuple(given)
