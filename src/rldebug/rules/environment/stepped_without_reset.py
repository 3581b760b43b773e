"""The environment is stepped before it was reset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SteppedWithoutReset(Rule):
    """The environment is stepped before it was reset.

    ## What it checks
    `step()` was refused because the environment has not been reset, or because its episode has ended.

    ## Why it matters
    There is no state to step from.

    ## Likely causes
    1. `reset()` is missing at the start. Confirm: look for it before the loop.
    2. The loop goes on after the end of an episode, or looks at `terminated` only. Confirm: print both flags.
    3. Another environment was reset than is stepped. Confirm: print their `id()`.

    ## What to try first
    Call `reset()` before the loop, and whenever `terminated or truncated`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.step` and `Env.reset`.
    """

    code: ClassVar[str] = "ENV402"
    name: ClassVar[str] = "stepped-without-reset"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("ResetNeeded") or evidence.says(
            r"Cannot call env\.step\(\) before", "step environment that needs reset", "needs? (to be )?reset before"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the environment was stepped without a reset",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="reset() before the first step and after each end",
            help="call reset() before the loop, and whenever terminated or truncated",
            confidence=0.95,
        )
