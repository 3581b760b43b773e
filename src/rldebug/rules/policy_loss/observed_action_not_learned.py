"""The right action is not learned where it depends on what is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservedActionNotLearned(Rule):
    """The right action is not learned where it depends on what is seen.

    ## What it checks
    Two states, in each of which another action pays: the policy has not learned which. With one state it had.

    ## Why it matters
    What this rung adds to the one below is the observation: it is lost, or that of another row, on the policy's way.

    ## Likely causes
    1. Observations and actions of a minibatch are of different rows. Confirm: recompute the log-probability of stored
       pairs with the weights that acted: the ratio must be 1.
    2. The policy acts on another observation than the one stored: an older one, or not normalised. Confirm: compare
       what acted with what is stored, for one step.
    3. Advantages are averaged over states. Confirm: print observation, action, reward and advantage of ten rows.

    ## What to try first
    Print observation, action, reward and advantage of ten rows.

    ## When it is fine
    Never.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "POL016"
    name: ClassVar[str] = "observed-action-not-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("NET008")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["observed-action-reward"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "the right action is not learned where it depends on what is seen",
            **shown(rung),
            help="print observation, action, reward and advantage of ten rows",
            confidence=0.7,
        )
