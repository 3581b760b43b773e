"""Rewards are divided by the variance of the returns where it should be their deviation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.reward_scale import reward_scale
from rldebug.forensics.target_rows import where_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardDividedByVariance(Rule):
    """Rewards are divided by the variance of returns, not by the deviation.

    ## What it checks
    The factor that rewards have in the critic's targets, moment by moment. In the first rollout all rewards since the
    start are known, so the running variance of the discounted returns is computed beside it: the factor is one over
    that variance at every moment, and not one over its square root. Exact.

    ## Why it matters
    Returns that count in tens become a tenth of what they should be, small ones become large: the critic's loss, and
    with it the balance of all losses, depends on the unit of the reward, which normalising is to prevent.

    ## Likely causes
    1. The square root is left out: `reward / (var + eps)`. Confirm: print the deviation of the normalised returns,
       which should be about 1.

    ## What to try first
    `reward / np.sqrt(var + 1e-8)`.

    ## When it is fine
    Where the deviation of the returns is about 1 both are the same, and nothing is said.

    ## References
    Gymnasium, *NormalizeReward*: `reward / sqrt(var + epsilon)`.
    """

    code: ClassVar[str] = "NRM490"
    name: ClassVar[str] = "reward-divided-by-variance"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "statistics"

    def check(self, evidence: Script) -> Iterator[Finding]:
        scale = reward_scale(evidence)
        if scale is None:
            raise NotEnough("no rewards were seen to be divided by a statistic of the returns, from the first step on")
        if scale.variance:
            yield self.finding(
                "rewards are divided by the variance of the returns",
                where=where_of(scale.terms),
                seen=f"times {scale.factor:.3g} where returns have a deviation of {scale.deviation:.3g}: one over its "
                f"square, in {scale.moments} of {scale.moments} steps of the first rollout",
                expected=f"times {1.0 / scale.deviation:.3g}, one over the deviation",
                help="divide by np.sqrt(var + 1e-8)",
                confidence=0.96,
            )
