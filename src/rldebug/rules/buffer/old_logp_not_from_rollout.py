"""The old log-probs are not those that acting produced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OldLogpNotFromRollout(Rule):
    """The old log-probs of an update are not from its own rollout.

    ## What it checks
    Bit for bit, whether the old log-probs of an update are among those handed over with the rollout it follows. None
    are, and they do not belong to the policy that acted either: in the first minibatch the ratio is far from 1.

    ## Why it matters
    The importance ratio compares two policies on the same action. With log-probs of other actions or another time it is
    a random number, and the clipped loss of PPO ignores or amplifies rows at random.

    ## Likely causes
    1. The learner reads log-probs of an earlier rollout: a cached copy, a double buffer that is swapped too late.
       Confirm: compare the first old log-prob of an update with the first one the rollout stored.
    2. Log-probs are shuffled or flattened differently from the other fields, after being changed in place. Confirm:
       `policy/ratio_std` is large in the first minibatch, `policy/kl` too.
    3. They are computed anew, but for other actions or observations than those stored. Confirm: recompute them for one
       row by hand.

    ## What to try first
    Print the first five old log-probs of the first minibatch beside those of the rollout.

    ## When it is fine
    Old log-probs computed anew with the policy that acted agree up to rounding, and the rule stays quiet. Algorithms
    that compare with a separate, slower policy on purpose (a target or reference policy) may ignore it.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (the ratio is 1 before the first step).
    """

    code: ClassVar[str] = "BUF003"
    name: ClassVar[str] = "old-logp-not-from-rollout"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/logp_from_rollout", "policy/first_log_ratio", "policy/kl")

    share: float = 0.02  # of the old log-probs found in the rollout; equal by chance
    readings: int = 3  # after the first rollout
    log_ratio: float = 0.1  # nats, the largest in a first minibatch; recomputed ones differ by less, even in bfloat16
    kl: float = 1e-3  # nats, the mean over a first minibatch

    def check(self, evidence: Run) -> Iterator[Finding]:
        share = evidence["policy/logp_from_rollout"].finite
        firsts = evidence["policy/first_log_ratio"].finite
        # The first rollout has no older one to be taken for it.
        second = firsts.update[1] if len(firsts) > 1 else np.inf
        share, firsts = share.keep(share.update >= second), firsts.keep(firsts.update >= second)
        if min(len(share), len(firsts)) < self.readings:
            raise NotEnough(f"{len(share)} readings after the first rollout, needs {self.readings}")
        kl = evidence["policy/kl"].finite
        kl = kl.keep(np.isin(kl.update, firsts.update))
        if np.mean(share.value <= self.share) < 0.9:
            return
        if firsts.median() < self.log_ratio or not kl.median() > self.kl:
            return
        yield self.finding(
            "the old log-probs are not those of the rollout",
            where=replace(evidence.call("update"), update=int(firsts.update[0]), env_step=int(firsts.env_step[0])),
            seen=f"{share.mean():.0%} of the old log-probs are among the rollout's, in {len(share)} readings; in first "
            f"minibatches log π_new − log π_old reaches {firsts.median():.2g}",
            expected="all of them, or at least a log ratio of 0 before the first step",
            help="hand the log-probs stored while acting to the loss, in the same order as the actions",
            confidence=0.8,
        )
