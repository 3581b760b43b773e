"""Numbers are learned, and not from what is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NumberIgnoresObservation(Rule):
    """Numbers are learned, and not from what is seen.

    ## What it checks
    One step, an action from −1 to 1: which number pays most depends on the state. Where it does not depend on it, it
    was learned.

    ## Why it matters
    A mean that does not depend on the observation is a constant, tuned at some cost.

    ## Likely causes
    1. The mean is a parameter, or its layer is fed a constant. Confirm: feed two observations, and compare the means.
    2. Rows of observations and actions are not of one step. Confirm: recompute log-probabilities of stored pairs with
       the weights that acted: the ratio must be 1.
    3. The mean is squashed so hard that its gradient is gone. Confirm: print the mean before squashing.

    ## What to try first
    Feed two different observations to the policy, and compare the means.

    ## When it is fine
    Never.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "NET009"
    name: ClassVar[str] = "number-ignores-observation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ACT008")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["observed-number"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "the best number is not learned where it depends on what is seen",
            **shown(rung),
            help="feed two different observations to the policy, and compare the means",
            confidence=0.75,
        )
