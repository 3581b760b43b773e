"""A step of the environment takes very long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EnvironmentSlow(Rule):
    """A step of the environment takes very long.

    ## What it checks
    The median time of a step is above 40 milliseconds: fewer than 25 steps per second in one process.

    ## Why it matters
    A million steps take more than eleven hours. Most of what slows an environment down is drawn, read or printed at
    every step without need.

    ## Likely causes
    1. Rendering, printing, or reading files inside `step()`. Confirm: profile a hundred steps.
    2. Loops in Python over arrays. Confirm: the same profile.
    3. `time.sleep`, to keep a human's pace. Confirm: look for it; it belongs into `render()`.

    ## What to try first
    Run `python -m cProfile` over a hundred steps.

    ## When it is fine
    Heavy simulators. Run several environments in processes of their own.

    ## References
    Petrenko et al., *Sample Factory* (throughput).
    """

    code: ClassVar[str] = "PRF005"
    name: ClassVar[str] = "environment-slow"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"

    seconds: float = 0.04  # median of a step
    steps: int = 10  # timed

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.steps < self.steps or not evidence.step_seconds > 0:
            raise NotEnough(f"{evidence.steps} steps, needs {self.steps}")
        if evidence.step_seconds <= self.seconds:
            return
        yield self.finding(
            "a step of the environment takes very long",
            seen=f"{1000 * evidence.step_seconds:.0f} ms per step: {1 / evidence.step_seconds:.0f} steps/s, and "
            f"{1e6 * evidence.step_seconds / 3600:.0f} hours for a million",
            expected=f"more than {1 / self.seconds:.0f} steps/s",
            help="profile a hundred steps; look for rendering, printing, sleeping or files in step()",
            confidence=0.8,
        )
