"""The reward is not one finite number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RewardNotANumber(Rule):
    """The reward is not one finite number.

    ## What it checks
    Type, shape and value of every reward while random actions are played. Integers, floats and numbers of NumPy are
    fine.

    ## Why it matters
    None and text raise in the middle of a training. An array of one element is stored as a row: minus a row of values
    it broadcasts to a matrix. NaN and infinity end in the weights.

    ## Likely causes
    1. The reward is computed from an array and keeps its shape: `reward = -np.abs(action)`. Confirm: print its shape.
    2. A branch of `step()` returns none. Confirm: print the reward at the step named.
    3. A division by a quantity that can be 0, a logarithm of a price or distance that can be 0. Confirm: print its
       arguments at the step named.

    ## What to try first
    Return `float(reward)`.

    ## When it is fine
    Never.

    ## References
    Gymnasium, *Make your own custom environment*.
    """

    code: ClassVar[str] = "ENV016"
    name: ClassVar[str] = "reward-not-a-number"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for misfit in sorted(evidence.rewards, key=lambda each: each.lenient)[:1]:
            yield self.finding(
                f"the reward is {misfit.seen}",
                where=evidence.where,
                seen=f"{misfit.seen} in {misfit.times} of {misfit.of} steps, first at step {misfit.step} of its "
                f"episode",
                expected=misfit.expected,
                help="return float(reward)" if misfit.lenient else "look at how the reward of that step is computed",
                confidence=0.97,
                severity="warning" if misfit.lenient else "error",
            )
