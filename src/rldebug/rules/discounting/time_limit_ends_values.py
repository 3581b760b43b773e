"""Running out of time is taken for an end: values are of what was left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TimeLimitEndsValues(Rule):
    """Running out of time is taken for an end: values are of what was left.

    ## What it checks
    The same reward for ever, cut off after five steps: the state is worth what five steps pay, not r / (1 − γ).

    ## Why it matters
    The value of a state depends on a clock that the agent does not see: the same observation is worth more early than
    late.

    ## Likely causes
    1. `terminated or truncated` is used where the bootstrap is masked. Confirm: print the mask where `truncated` is
       True; the bootstrap must stay.
    2. The value of the last observation is missing, or 0, where an episode is cut off. Confirm: print `final_value`
       of such rows.
    3. An old interface is used, whose `done` means both. Confirm: look for `done` in the code that stores steps.

    ## What to try first
    Print terminated, truncated and the bootstrap of the rows where time ran out.

    ## When it is fine
    Where the time limit is a part of the task, and the time left is a part of the observation.

    ## References
    Pardo and others, *Time limits in reinforcement learning*. See also `truncation-as-termination`.
    """

    code: ClassVar[str] = "DIS013"
    name: ClassVar[str] = "time-limit-ends-values"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ADV007")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for name in ("truncated-episode", "unequal-episodes", "side-by-side"):
            rung = evidence[name]
            if rung.outcome == "failed" and rung.matched[:1] == ("truncation-as-end",):
                yield self.finding(
                    "running out of time is taken for an end",
                    **shown(rung),
                    help="print terminated, truncated and the bootstrap of the rows where time ran out",
                    confidence=0.95,
                )
                return
