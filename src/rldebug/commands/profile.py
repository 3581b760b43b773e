"""rldebug profile: where the time of a program goes, and what to do about it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rldebug.commands.completion import rules
from rldebug.commands.run import Command as Command  # options end where the program begins

EXAMPLES = """
rldebug profile train.py --seed 1
rldebug profile --seconds 60 --html profile.html train.py
rldebug profile --speedscope p.json --no-yardstick -m mypkg.train
"""
PAGE = "how-to/profile.md"
_excepthook = sys.excepthook


def profile(
    program: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCRIPT", help="A script and its arguments, or -m MODULE and its own."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, metavar="N", help="End the program after N seconds of training.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A page: timeline, flame graph, memory, pace; opens offline.")
    ] = None,
    speedscope: Annotated[Path | None, typer.Option(metavar="FILE", help="For speedscope.app.")] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One iteration in its order, for Perfetto and chrome://tracing.")
    ] = None,
    prof: Annotated[Path | None, typer.Option(metavar="FILE", help="For snakeviz, tuna and pstats.")] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout, after the program.")
    ] = None,
    yardstick: Annotated[
        bool, typer.Option("--yardstick/--no-yardstick", help="Measure afterwards what the parts could cost here.")
    ] = True,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Only this rule, by code or name; may be repeated.", autocompletion=rules),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Not this rule; may be repeated.", autocompletion=rules),
    ] = None,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Where runs are kept, each in a folder of its own.")
    ] = Path(".rldebug/runs"),
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What this run is called; as the script, unless given.")
    ] = None,
) -> None:
    """Run a program, and say where its time goes.

    It runs as `python SCRIPT` does, and is timed by the parts of a training loop: simulator, acting, buffer,
    advantages, loss, backward. What they could cost on this machine is measured, and the largest gain is named.

    Options of rldebug come before the script; everything after it is the script's own. Ctrl-C ends the program, and
    what it did until then is told. `rldebug run --profile` does this and looks for bugs as well.

    Exit status: the program's own; 2 where it could not be run.
    """
    sys.excepthook = _excepthook  # Typer has put its own there

    from rldebug.config import asked_for, read_config
    from rldebug.profile import Asked
    from rldebug.profile import profile as run_profile

    files = {"html": html, "speedscope": speedscope, "trace": trace, "prof": prof}
    run_profile(
        Asked(
            program=tuple(program or ()),
            folder=folder,
            name=name,
            seconds=seconds,
            json=json,
            files={kind: file for kind, file in files.items() if file is not None},
            yardstick=yardstick,
            quiet=quiet,
        ),
        asked_for(read_config(), tuple(select or ()), tuple(ignore or ())),
    )
