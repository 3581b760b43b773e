"""What is stored as log-prob is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogpAboveZero(Rule):
    """Log-probs of discrete actions are above 0.

    ## What it checks
    The log-probs handed over with rollouts, where the environment has discrete actions. A probability is at most 1, so
    its logarithm is at most 0.

    ## Why it matters
    The ratio of new to old policy is the exponential of a difference of log-probs. With anything else in their place it
    is a number without meaning.

    ## Likely causes
    1. Probabilities were stored: the log is missing, `softmax` in place of `log_softmax`. Confirm: all values are
       between 0 and 1.
    2. Logits were stored. Confirm: values of both signs, not bounded by 1.
    3. The negative log-likelihood was stored. Confirm: all values are positive, and −value is what `dist.log_prob`
       gives.

    ## What to try first
    Store `dist.log_prob(action)`.

    ## When it is fine
    The policy draws a continuous number that is turned into a discrete action: densities may exceed 1. Where the
    distribution is handed over and is not discrete, the rule stays quiet.

    ## References
    The PyTorch documentation of `torch.distributions.Categorical`.
    """

    code: ClassVar[str] = "ACT003"
    name: ClassVar[str] = "logp-above-zero"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("rollout/logp_max", "rollout/logp_min")
    facts: ClassVar[tuple[str, ...]] = ("env",)

    above: float = 0.01  # nats, for rounding in half precision and for a small number added inside a log
    share: float = 0.5  # of the rollouts

    def check(self, evidence: Run) -> Iterator[Finding]:
        if not any(env.get("actions") for _, env in evidence.facts("env")):
            raise NotEnough("the environment has no discrete actions")
        if (
            "policy/entropy" in evidence
            and "policy/entropy_max" not in evidence
            and "policy/entropy_given" not in evidence
        ):
            raise NotEnough("the policy's distribution is not discrete")
        most, least = evidence["rollout/logp_max"].finite, evidence["rollout/logp_min"].finite
        if not len(most) or np.mean(most.value > self.above) < self.share:
            return
        at = int(np.flatnonzero(most.value > self.above)[0])
        if least.min() >= 0 and most.max() <= 1 + self.above:
            looks = "they look like probabilities"
        elif least.min() >= 0:
            looks = "all are positive, like negative log-likelihoods"
        else:
            looks = "they look like logits"
        yield self.finding(
            "log-probs of discrete actions are above 0",
            where=replace(
                evidence.call("rollout"), update=int(most.update[at]), env_step=int(most.env_step[at]), tensor="logp"
            ),
            seen=f"from {least.min():.3g} to {most.max():.3g}, above 0 in {np.mean(most.value > self.above):.0%} of "
            f"{len(most)} rollouts; {looks}",
            expected="at most 0",
            help="store dist.log_prob(action), or the entry of log_softmax(logits) that belongs to the action",
            confidence=0.98,
        )
