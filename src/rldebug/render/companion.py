"""The dashboard of a run that goes on, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_PATIENCE = 10.0  # seconds; it takes a tenth of one


class CompanionError(Exception):
    """It could not be started; the message says why."""


def open_dashboard(folder: Path) -> str:
    """Start it for this run folder; its address. It goes on when this process has ended, as long as somebody looks."""
    words = ("-m", "rldebug.dashboard.beside", str(folder.parent), folder.name, str(os.getpid()))
    try:
        done = subprocess.run(
            (sys.executable, *words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
            start_new_session=True,  # Ctrl-C is for the program
            env={**os.environ, "PYTHONSAFEPATH": "1"},  # what lies where the program was called is not ours to import
        )
    except subprocess.TimeoutExpired:
        raise CompanionError(f"it did not start within {_PATIENCE:.0f} seconds") from None
    except OSError as error:
        raise CompanionError(str(error)) from None
    if done.returncode or not done.stdout.startswith("http://"):
        said = done.stderr.strip().splitlines()
        raise CompanionError(said[-1] if said else f"it ended with status {done.returncode}")
    return done.stdout.strip()
