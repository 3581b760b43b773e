"""The actions taken are not a sample of the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionNotSampledFromPolicy(Rule):
    """The actions taken are not a sample of the policy.

    ## What it checks
    For actions drawn from a policy, the mean of −log π over them is the entropy of the policy. Both are compared on
    first minibatches, where the policy is still the one that acted, and pooled over the run. Reported where the
    difference is many times what chance allows, is a visible part of the entropy, and has one sign throughout. Below:
    actions are greedier than the policy. Above: they come from somewhere else.

    ## Why it matters
    A policy gradient is an average over the policy's own actions. With others its direction is wrong, and an agent that
    acts greedily does not explore.

    ## Likely causes
    1. The most likely action is taken in place of a sample. Confirm: acting calls `argmax` or `mode`.
    2. The log-prob stored is that of another action, or another row. Confirm: recompute it for one row.
    3. Actions are drawn at another temperature, or mixed with random ones, than the policy that learns. Confirm: the
       line that draws the action uses the same logits.

    ## What to try first
    Take `dist.sample()` when acting.

    ## When it is fine
    Rows that were picked by what came of them, such as the best of several attempts.

    ## References
    Sutton and Barto, *Reinforcement Learning: An Introduction* (2018), chapter 13.
    """

    code: ClassVar[str] = "ACT001"
    name: ClassVar[str] = "action-not-sampled-from-policy"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "drawn"
    needs: ClassVar[tuple[str, ...]] = (
        "policy/surprise_gap",
        "policy/surprise_spread",
        "policy/entropy",
        "policy/logp_from_rollout",
    )
    follows: ClassVar[tuple[str, ...]] = ("POL005", "ACT003", "BUF003")

    readings: int = 5  # of first minibatches
    errors: float = 6.0  # standard errors, for the pooled difference
    part: float = 0.05  # of the entropy
    share: float = 0.8  # of the readings on the same side

    def check(self, evidence: Run) -> Iterator[Finding]:
        gap, spread = evidence["policy/surprise_gap"].finite, evidence["policy/surprise_spread"].finite
        gap = gap.keep(np.isin(gap.update, spread.update))
        spread = spread.keep(np.isin(spread.update, gap.update))
        if len(gap) < self.readings:
            raise NotEnough(f"{len(gap)} readings of first minibatches, needs {self.readings}")
        if not evidence["policy/logp_from_rollout"].finite.median() >= 0.99:
            return  # the log-probs are not those of this rollout
        ratio = evidence["policy/first_log_ratio"].finite
        if len(ratio) and ratio.median() > 0.05:
            return  # not the policy that acted
        entropy = evidence["policy/entropy"].finite
        entropy = entropy.keep(np.isin(entropy.update, gap.update))
        mean = float(np.mean(gap.value))
        error = float(np.sqrt(np.sum(spread.value**2))) / len(gap)
        side = float(np.mean(np.sign(gap.value) == np.sign(mean)))
        if abs(mean) < self.errors * error or abs(mean) < self.part * entropy.mean() or side < self.share:
            return
        greedy = mean < 0
        yield self.finding(
            "the actions taken are greedier than the policy" if greedy else "the actions taken are not the policy's",
            where=replace(evidence.call("rollout"), update=int(gap.update[0]), env_step=int(gap.env_step[0])),
            seen=f"mean −log π of the actions is {abs(mean):.3f} nats {'below' if greedy else 'above'} the entropy "
            f"({entropy.mean():.3f}), {abs(mean) / max(error, 1e-12):.0f} standard errors, in {len(gap)} rollouts",
            expected=f"equal within {self.errors:.0f} standard errors ({self.errors * error:.3f} nats)",
            help="draw the action with dist.sample() and store the log-prob of that same action",
            confidence=0.85,
        )
