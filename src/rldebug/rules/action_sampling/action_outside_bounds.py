"""The environment is given actions outside its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionOutsideBounds(Rule):
    """Actions outside the bounds of the action space reach the env.

    ## What it checks
    The share of the steps looked at whose action has an entry outside the bounds of the environment's action space.

    ## Why it matters
    The environment clips, wraps or rejects such an action. What happens belongs to another action than the one that is
    stored and learned from, and the policy's spread is larger than what it does.

    ## Likely causes
    1. A Gaussian sample goes to the environment unclipped. Confirm: clip a copy before `env.step`, and store the sample
       together with its log-prob.
    2. The policy acts in [−1, 1] and the environment in other bounds, or the other way round. Confirm: compare
       `action/std` with the bounds; rescale.

    ## What to try first
    Pass `np.clip(action, low, high)` to `env.step`.

    ## When it is fine
    The environment clips by itself, as many simulators do, and the policy stays mostly inside.

    ## References
    Chou, Maturana and Scherer, *Improving Stochastic Policy Gradients in Continuous Control with Deep Reinforcement
    Learning using the Beta Distribution* (2017).
    """

    code: ClassVar[str] = "ACT002"
    name: ClassVar[str] = "action-outside-bounds"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("env/action_outside",)

    share: float = 0.02  # of the steps looked at
    readings: int = 4  # with steps in them

    def check(self, evidence: Run) -> Iterator[Finding]:
        outside = evidence["env/action_outside"].finite
        if len(outside) < self.readings:
            raise NotEnough(f"{len(outside)} readings of the actions, needs {self.readings}")
        if outside.mean() < self.share:
            return
        at = outside.at(outside.value > 0)
        yield self.finding(
            "the environment is given actions outside its bounds",
            where=outside.where(at or 0),
            seen=f"{outside.mean():.0%} of the steps looked at (mean of {len(outside)} readings)",
            expected="0 %",
            help="pass a clipped copy to env.step, and store the sample whose log-prob you have",
            confidence=0.7,
        )
