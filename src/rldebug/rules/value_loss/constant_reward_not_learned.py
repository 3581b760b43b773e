"""The critic does not learn that a constant reward of 1 is worth 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ConstantRewardNotLearned(Rule):
    """The critic does not learn that a constant reward of 1 is worth 1.

    ## What it checks
    The first rung: one state, one step, a reward of 1 whatever is done. The value came to rest at something else.

    ## Why it matters
    Nothing that uses a value can be right: advantages, targets and bootstraps are all built on it.

    ## Likely causes
    1. The value loss is not that of value and return: a coefficient, a clip around 0 instead of around the old value.
       Confirm: print the loss's inputs for one minibatch; the target must be 1.
    2. Rewards are scaled, shifted or clipped before they are stored. Confirm: print what the buffer holds after ten
       steps; it must be 1.
    3. The target holds something beside the reward, such as an entropy bonus in a last step. Confirm: print the
       target; it must be 1 in every row.

    ## What to try first
    Print value, target and reward of one minibatch on `rldebug/ConstantReward-v0`.

    ## When it is fine
    Where values are normalised on purpose, and `value(obs)` returns them so: return them in the reward's unit.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "VAL009"
    name: ClassVar[str] = "constant-reward-not-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("VAL014")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["constant-reward"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "a constant reward of 1 is not learned",
            **shown(rung),
            help="print value, target and reward of one minibatch: all three must come to 1",
            confidence=0.75,
        )
