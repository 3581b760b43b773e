"""rldebug dashboard: the page of a run while it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
rldebug dashboard                        # every run under .rldebug/runs
rldebug dashboard .rldebug/runs/ppo      # one run
rldebug dashboard --port 6880 --no-open  # on a machine without a browser
"""
PAGE = "how-to/dashboard.md"


def dashboard(
    runs: Annotated[
        Path | None,
        typer.Argument(metavar="RUNS_DIR", help="A folder of runs, or one run folder; .rldebug/runs if left out."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, metavar="N", help="Where it listens; 0: any that is free. 6870 if that is free."
        ),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address, and open no browser.")] = False,
) -> None:
    """Open a page that follows runs while they go on.

    What is wrong stands first, then the metrics; several runs beside one another.

    It listens on this machine alone (127.0.0.1), and to whoever has the token in the address that it prints. It only
    reads. Ctrl-C ends it. For a page to send to somebody: rldebug report RUN --html FILE.

    Exit status: 0 ended by Ctrl-C, 2 could not start.
    """
    from rldebug.dashboard.serve import DashboardError, place, serve
    from rldebug.evidence.folder import RUNS

    if runs is not None and not runs.exists():
        raise DashboardError(f"there is no folder {runs}: expected a folder of runs, or a run folder")
    where = place(runs or RUNS, port)
    typer.echo(where.url)
    serve(where, browser=not no_open)
