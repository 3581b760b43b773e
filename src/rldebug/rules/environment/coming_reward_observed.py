"""The observation gives away the reward of the coming step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ComingRewardObserved(Rule):
    """The observation gives away the reward of the coming step.

    ## What it checks
    The reward of the coming step is, for each action, a fixed multiple of one element of the observation, or of the
    difference of two, to the last digit. A warning where that element belongs to a series that goes its way whatever
    is done, one value moving on through the observation at each step: it then shows a value too early.

    ## Why it matters
    An agent that sees the next price has nothing to predict. It looks brilliant in training, and fails where the
    future is not known.

    ## Likely causes
    1. A window that reaches one row too far: `data[t - n : t + 1]` where row `t` is only known after the action.
       Confirm: compare the last row of the window with the one that the reward is made of.
    2. The index is advanced before the observation is made, but the reward still uses the old one. Confirm: print the
       index in both places.
    3. Features that were computed over the whole data at once (centred averages, returns shifted the wrong way).
       Confirm: the feature of row `t` must not change when row `t + 1` does.

    ## What to try first
    Shorten the window by its newest row.

    ## When it is fine
    Contextual bandits, where the context is the reward of an action.

    ## References
    Lopez de Prado, *Advances in Financial Machine Learning* (leakage).
    """

    code: ClassVar[str] = "ENV034"
    name: ClassVar[str] = "coming-reward-observed"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvPlay"

    steps: int = 200  # at which it was compared
    distinct: int = 20  # values of the element: fewer coincide by chance

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        told = [each for each in evidence.foretold if each.steps >= self.steps and each.distinct >= self.distinct]
        if not evidence.rewards.steps:
            raise NotEnough("nothing was played")
        # The same factor for every action is a reward of the old state alone, as theory has it.
        told = [
            each
            for each in told
            if len({round(ratio, 6) for _, ratio in each.ratios}) > 1 or each.ratios[0][0] == "× action"
        ]
        if not told or max(evidence.lengths, default=2) <= 1:
            return
        best = max(told, key=lambda each: (each.exogenous, each.share))
        factors = ", ".join(f"{ratio:.3g} after action {action}" for action, ratio in best.ratios[:3])
        yield self.finding(
            "the observation gives away the coming reward",
            seen=f"the next reward is a multiple of {best.where} at {best.share:.1%} of {best.steps} steps: "
            + (factors if best.ratios[0][0] != "× action" else f"{best.ratios[0][1]:.3g} × action"),
            expected="what decides the reward becomes known with it, not before the action is chosen",
            help=f"check which moment {best.where} belongs to: it must be known when the action is chosen",
            confidence=0.85 if best.exogenous else 0.5,
            severity="warning" if best.exogenous else "note",
        )
