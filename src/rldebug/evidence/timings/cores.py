"""Cores: how many of those that may be used were used."""

from __future__ import annotations

from rldebug.evidence.timing import Timing


def used(timing: Timing) -> float | None:
    """By the program and by the processes that it started, on average; None where nobody looked."""
    seconds = sum(each.seconds for each in timing.windows)
    spent = sum(each.cpu + each.children_cpu for each in timing.windows)
    return spent / seconds if seconds > 0 and spent > 0 else None


def idle(timing: Timing) -> float | None:
    busy = used(timing)
    return None if busy is None else max(timing.host.cores - busy, 0.0)
