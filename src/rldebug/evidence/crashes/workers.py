"""The processes that a program had started, and how they ended: what an EOFError of its parent keeps to itself."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from rldebug.evidence.crashes.facts import Fact

_WAITED = 0.3  # seconds: a pipe breaks a moment before its process is gone
_MOST = 8


def workers_of(error: BaseException) -> tuple[Fact, ...]:
    """Those that have ended, where the error is that one does not answer any more."""
    if not _unanswered(error):
        return ()
    process = sys.modules.get("multiprocessing.process")
    started = list(getattr(process, "_children", ()))
    ends = time.monotonic() + _WAITED
    while started and all(_exit(each) is None for each in started) and time.monotonic() < ends:
        time.sleep(0.01)
    told = [{"name": str(each.name), "exit": code} for each in started if (code := _exit(each)) is not None]
    return tuple(sorted(told, key=lambda each: each["exit"] == 0)[:_MOST])


def _unanswered(error: BaseException) -> bool:
    return isinstance(error, EOFError | ConnectionError) or type(error).__name__ in (
        "BrokenProcessPool",
        "ProcessExitedException",
    )


def _exit(process: Any) -> int | None:
    try:
        return process.exitcode if process._parent_pid == os.getpid() else None
    except Exception:
        return None


def ended(exit: int) -> str:
    """How a process came to its end, by its exit code."""
    if exit < 0:
        try:
            name = signal.Signals(-exit).name
        except ValueError:
            name = f"signal {-exit}"
        return f"was killed by {name}"
    return "ended by itself" if exit == 0 else f"ended with exit code {exit}"
