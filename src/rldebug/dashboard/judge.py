"""The worker that judges: `python -m rldebug.dashboard.judge`. Torch, and whole runs, are held here, not in the server.

A line of JSON comes in, {"folder": …}; a line goes out: what `exhibit.told` says, or {"problem": …}.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

from rldebug.evidence.run import RunError

_FILES = ("run.json", "readings.jsonl", "script.jsonl", "sources.jsonl", "graph.json", "timing.json", "yardstick.json")
_NOTHING = "no step of an environment or an optimizer was seen: there is nothing to check"


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a rule or a library prints must not get among the answers
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server: when that ends, so does our input
    if hasattr(os, "nice"):
        os.nice(10)  # the program that is watched goes first
    out.write(b"{}\n")
    out.flush()
    for line in sys.stdin.buffer:
        out.write(json.dumps(answer(Path(json.loads(line)["folder"])), default=str).encode() + b"\n")
        out.flush()


def answer(folder: Path) -> dict[str, Any]:
    """Never raises: a folder may hold anything."""
    try:
        return judged(folder)
    except RunError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "there is not enough memory to look at this run"}
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}


def judged(folder: Path) -> dict[str, Any]:
    from rldebug.config import read_config
    from rldebug.evidence.folder import open_run
    from rldebug.exhibit import told
    from rldebug.recorded import as_shown, examine, recorded

    for name in _FILES:
        _must_be_plain(folder / name)
    seen = recorded(folder)
    if not seen.evidences:
        open_run(str(folder.absolute()))  # says why there is nothing in it
    if seen.empty:
        raise RunError("; ".join((_NOTHING, *seen.problems)))
    report = as_shown(examine(seen, read_config(), "report"))
    return told(report, seen)


def _must_be_plain(file: Path) -> None:
    """A link leads anywhere, and a pipe never ends."""
    try:
        if not stat.S_ISREG(os.lstat(file).st_mode):
            raise RunError(f"{file.name} is not a plain file")
    except FileNotFoundError:
        pass


if __name__ == "__main__":
    main()
