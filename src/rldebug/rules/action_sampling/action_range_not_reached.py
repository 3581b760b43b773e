"""Actions do not reach the bound of their range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionRangeNotReached(Rule):
    """Actions do not reach the bound of their range.

    ## What it checks
    One step, an action from −1 to 3 of which 3 pays most: what the policy plays stops before it.

    ## Why it matters
    The best actions of many tasks are at the bounds: full throttle, full brake.

    ## Likely causes
    1. Actions are squashed to −1 … 1, and not stretched to the range. Confirm: print the largest action sent.
    2. They are clipped to other bounds than those of the space. Confirm: search for constants in `clip` and `clamp`.
    3. The action is stored clipped, and its log-probability is of the unclipped one. Confirm: recompute it for stored
       actions with the weights that acted.

    ## What to try first
    Print the smallest and largest action sent, beside `action_space.low` and `high`.

    ## When it is fine
    Never.

    ## References
    Gymnasium, `RescaleAction`; Chou and others, *Improving stochastic policy gradients with the Beta distribution*
    (bounds).
    """

    code: ClassVar[str] = "ACT007"
    name: ClassVar[str] = "action-range-not-reached"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ACT008")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["bound-optimum"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "actions do not reach the bound of their range",
            **shown(rung),
            help="print the smallest and largest action sent, beside action_space.low and action_space.high",
            confidence=0.8,
        )
