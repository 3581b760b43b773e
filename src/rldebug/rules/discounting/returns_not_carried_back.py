"""The final reward reaches the last state of an episode, and no state before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Run
from rldebug.evidence.together import pooled_correlation, together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReturnsNotCarriedBack(Rule):
    """Final rewards reach the last state of an episode and none before.

    ## What it checks
    Over the terminations late in the run, the value of the last state follows the final reward: the correlation is
    high and the slope near 1. The value of the state before does not: its slope, which should be γ times the last
    one's, is a small part of that. And the targets are spread no wider than single rewards are, where sums of rewards
    would be.

    ## Why it matters
    Only the very last action of an episode is ever credited. Tasks whose reward comes at the end cannot be learned.

    ## Likely causes
    1. The return is the reward of the step alone: γ times the next value is missing or masked out. Confirm:
       `target/std` equals `reward/std`; rewards `[0, 0, 1]` must give returns `[γ², γ, 1]`.
    2. Returns are summed forwards instead of backwards. Confirm: the same three rewards.
    3. The mask of episode ends is one step early, so the last step is cut off from the rest. Confirm: print flags and
       returns around an end.

    ## What to try first
    Call your function for returns on rewards `[0, 0, 1]`, with the last step terminal.

    ## When it is fine
    Tasks that show the outcome in the last state only: their targets are wider than their rewards, and the rule stays
    quiet; where no targets were handed over it can only be a note. Episodes of one step have no state before the last.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (penultimate terminal correlation). Nikanjam et al. 2022, *Faults
    in deep reinforcement learning programs*.
    """

    code: ClassVar[str] = "DIS001"
    name: ClassVar[str] = "returns-not-carried-back"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "formula"
    needs: ClassVar[tuple[str, ...]] = (
        "value/terminal_corr",
        "value/penultimate_corr",
        "value/terminal_slope",
        "value/penultimate_slope",
    )
    follows: ClassVar[tuple[str, ...]] = ("ADV004", "VAL005")
    aftermath: ClassVar[bool] = True

    terminals: int = 50  # terminations late in the run, pooled
    follows_reward: float = 0.7  # correlation of the last state's value with the final reward
    learned: float = 0.5  # slope of the last state's value
    carried: float = 0.3  # slope of the state before, over γ times that of the last
    wider: float = 1.25  # spread of targets over spread of rewards that sums of rewards exceed

    def check(self, evidence: Run) -> Iterator[Finding]:
        names = ("value/terminal_corr", "value/terminal_count", "value/terminal_slope")
        last, last_count, last_slope = (each.tail(0.4) for each in together(evidence, *names))
        names = ("value/penultimate_corr", "value/penultimate_count", "value/penultimate_slope")
        before, before_count, before_slope = (each.tail(0.4) for each in together(evidence, *names))
        pooled = min(last_count.value.sum(), before_count.value.sum())
        if pooled < self.terminals:
            raise NotEnough(f"{int(pooled)} terminations with rewards that differ, needs {self.terminals}")
        gamma = evidence.gamma if evidence.gamma is not None else 1.0
        if gamma < 0.3:
            return
        corr, _ = pooled_correlation(last.value, last_count.value)
        slope = _mean(last_slope.value, last_count.value)
        earlier = _mean(before_slope.value, before_count.value)
        if corr < self.follows_reward or slope < self.learned or earlier > self.carried * gamma * slope:
            return
        width = self._width(evidence)
        if width is not None and width > self.wider:
            return
        targets = "" if width is None else f"; targets are spread {width:.2f} times as wide as rewards"
        yield self.finding(
            "the final reward of an episode is not carried back beyond its last state",
            where=replace(evidence.call("rollout"), update=int(before.update[0]), env_step=int(before.env_step[0])),
            seen=f"over {int(pooled)} terminations, V of the last state rises by {slope:.2f} per unit of final reward "
            f"(correlation {corr:.2f}), V of the state before by {earlier:.3f} "
            f"(correlation {pooled_correlation(before.value, before_count.value)[0]:.2f}){targets}",
            expected=f"about {gamma * slope:.2f} for the state before: γ times the last state's",
            help="call your returns on rewards [0, 0, 1]: they must be [γ², γ, 1]",
            confidence=0.85 if width is not None else 0.6,
            severity="warning" if width is not None else "note",
        )

    def _width(self, run: Run) -> float | None:
        """Spread of the targets over spread of the rewards they are made from, late in the run."""
        target, reward = run["target/std"].finite.tail(0.4), run["reward/std"].finite.tail(0.4)
        if not len(target) or not len(reward) or reward.median() <= 0:
            return None
        return float(np.sqrt(np.mean(target.value**2) / np.mean(reward.value**2)))


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.average(values, weights=weights))
