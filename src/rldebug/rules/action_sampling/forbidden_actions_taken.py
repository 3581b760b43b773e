"""Actions that the mask forbids are taken, or allowed ones are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ForbiddenActionsTaken(Rule):
    """Actions that the mask forbids are taken, or allowed ones are not.

    ## What it checks
    Two of four actions are forbidden, and only the mask tells which: the return stays far below what one who reads
    the mask gets.

    ## Why it matters
    Games and schedulers punish illegal moves, or crash.

    ## Likely causes
    1. The mask means the opposite: True where an action is allowed, or where it is not. Confirm: print mask and
       action of ten steps.
    2. The mask is that of the step before, or of another environment. Confirm: the same, with the mask of
       `env.action_masks()` beside it.
    3. It is used when acting and not when learning. Confirm: recompute log-probabilities of stored pairs, with their
       masks: the ratio must be 1.

    ## What to try first
    Print mask and action of ten steps: no action may fall on a False.

    ## When it is fine
    Never, where masks are said to be used.

    ## References
    Huang and Ontañón, *A closer look at invalid action masking in policy gradient algorithms*.
    """

    code: ClassVar[str] = "ACT012"
    name: ClassVar[str] = "forbidden-actions-taken"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["masked-actions"]
        if rung.outcome != "failed" or rung.deciding is None:
            return
        share = rung.deciding.forbidden
        numbers = shown(rung)
        yield self.finding(
            "actions that the mask forbids are taken" if share else "actions that the mask allows are not learned",
            seen=numbers["seen"] + ("" if share is None else f"; {share:.0%} of actions were forbidden"),
            expected=f"{numbers['expected']}; no action that is forbidden",
            help="print mask and action of ten steps: no action may fall on a False",
            confidence=0.85 if share else 0.7,
        )
