"""The policy is the same in every state, to the last digit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import same_to_the_bit, shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PolicyBlindToObservation(Rule):
    """The policy is the same in every state, to the last digit.

    ## What it checks
    The right action is learned where there is one state, and the value sees the observation; where the right action
    depends on it, the policy's probabilities do not.

    ## Why it matters
    A policy that cannot see can only choose the best on average.

    ## Likely causes
    1. The policy's head is fed a constant, or features that were zeroed, or of another batch. Confirm: feed two
       observations, and compare what enters the last layer.
    2. A parameter stands where a layer should be (a mean or logits that do not depend on the state). Confirm: print
       the modules of the policy.
    3. Its units are dead: a ReLU that never fires. Confirm: print the share of zeros behind each layer.

    ## What to try first
    Feed two different observations to the policy, and compare the output of every layer.

    ## When it is fine
    Never, where the observation tells what to do.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "NET008"
    name: ClassVar[str] = "policy-blind-to-observation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL015")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["observed-action-reward"]
        if rung.outcome != "failed" or not same_to_the_bit(rung, "policy") or evidence.failed("action-reward"):
            return
        yield self.finding(
            "the policy is the same, to the last digit, whatever is seen",
            **shown(rung),
            help="feed two different observations to the policy, and compare the output of every layer",
            confidence=0.85,
        )
