"""Amounts of time beside the run, and beside what was measured on this machine."""

from __future__ import annotations

from rldebug.evidence.timing import Measured, Timing
from rldebug.evidence.timings.telling import lasting


def of_the_run(timing: Timing, seconds: float) -> str:
    percent = 100 * timing.share(seconds)
    return f"{percent:.0f} % of the run" if percent >= 10 else f"{percent:.2g} % of the run"


def env_calls(timing: Timing) -> int:
    """Calls of step, of the environments that are learned from."""
    return sum(each.calls for each in timing.environments if not each.evaluation) or timing.env_steps


def told(measured: Measured | None, otherwise: str) -> str:
    """What something could take, where that was measured here."""
    return otherwise if measured is None else f"{measured.what}: {lasting(measured.seconds)} on this machine"
