"""Values are learned, and given to another action than the one played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to, values_alone
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionOfAnotherChoice(Rule):
    """Values are learned, and given to another action than the one played.

    ## What it checks
    Values are right where actions make no difference, and where they do the wrong action is preferred, by an
    algorithm that acts by its action values alone.

    ## Why it matters
    With no policy loss in between, right values and wrong choices mean that the action that is valued is not the
    action that was played.

    ## Likely causes
    1. The action that is stored is not the one that was sent: before clipping, noise or an offset, or the greedy one
       while another explored. Confirm: record what `env.step` was called with beside what is stored.
    2. The index into the action values is shifted: actions of the space begin at another number. Confirm: `Q.gather`
       with actions 0 … n − 1; print both for ten rows.
    3. The action is chosen by `argmin`, or over the wrong axis. Confirm: print action values and the action chosen.

    ## What to try first
    Print the action sent, the action stored and the column of Q that is fitted, for ten steps.

    ## When it is fine
    Never.

    ## References
    See `action-not-sampled-from-policy` for the same in a policy.
    """

    code: ClassVar[str] = "BUF014"
    name: ClassVar[str] = "action-of-another-choice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("DIS014")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["action-reward"]
        if rung.outcome != "failed" or not values_alone(evidence):
            return
        yield self.finding(
            "what an action pays is learned as the value of another action",
            **shown(rung),
            help="print the action sent, the action stored and the column of Q that is fitted, for ten steps",
            confidence=0.8,
        )
