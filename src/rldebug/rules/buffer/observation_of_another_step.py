"""What was seen is paired with another step's action and reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import same_to_the_bit, shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationOfAnotherStep(Rule):
    """What was seen is paired with another step's action and reward.

    ## What it checks
    One state can be learned, in value and in action, and two cannot: values are the mean whatever is seen, and the
    right action is not found where it depends on the state.

    ## Why it matters
    The rows that the networks learn from never happened.

    ## Likely causes
    1. The row holds the observation after the action, or a reference to an array that the environment overwrites.
       Confirm: `np.shares_memory` of two stored observations; compare what was acted on with what is stored.
    2. The observation is never advanced: `obs = next_obs` is missing. Confirm: print the observation of three steps
       in a row.
    3. Observations are shuffled apart from actions and rewards. Confirm: put the row's number into the observation,
       and look at a minibatch.

    ## What to try first
    Put the step's number into the observation, and print ten rows of a minibatch.

    ## When it is fine
    Never.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "BUF012"
    name: ClassVar[str] = "observation-of-another-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("BUF011")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung, choice = evidence["observed-reward"], evidence["observed-action-reward"]
        if rung.outcome != "failed" or choice.outcome != "failed" or not evidence.passed("action-reward"):
            return
        if same_to_the_bit(rung, "value"):
            return
        value, action = shown(rung), shown(choice)
        yield self.finding(
            "what was seen is paired with the action and reward of another step",
            seen=f"{value['seen']}; {action['seen']}",
            expected=f"{value['expected']}; {action['expected']}",
            help="put the step's number into the observation, and print ten rows of a minibatch",
            confidence=0.85,
        )
