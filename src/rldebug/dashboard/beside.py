"""The dashboard beside a program, for `rldebug run --dashboard`: `python -m rldebug.dashboard.beside RUNS_DIR RUN PID`.

Prints the address at once and goes on in a process that is nobody's child: a program that waits for its children must
not meet one that it did not start. It ends when the program has, and nobody looks any more.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rldebug.dashboard.serve import DashboardError, place, serve
from rldebug.evidence.alive import alive

if TYPE_CHECKING:
    from rldebug.dashboard.events import Events

STAY = 60.0  # seconds after the last page was closed


def main(folder: str, run: str, pid: str) -> None:
    try:
        where = place(Path(folder), run=run)
    except DashboardError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print(where.url, flush=True)
    if hasattr(os, "fork") and os.fork():
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nowhere, each)  # who has started us reads until here
    serve(where, until=left(int(pid)))


def left(pid: int, stay: float = STAY) -> Callable[[Events], bool]:
    """Has the program ended, and has nobody looked for a while?"""
    ended: list[float] = []

    def until(events: Events) -> bool:
        if not ended:
            if alive(pid):
                return False
            ended.append(time.monotonic())
        return not events.pages and time.monotonic() - max(events.left, ended[0]) > stay

    return until


if __name__ == "__main__":
    main(*sys.argv[1:])
