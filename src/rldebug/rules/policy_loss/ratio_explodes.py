"""The ratio of single rows leaves all bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RatioExplodes(Rule):
    """The importance ratio of single rows leaves all bounds.

    ## What it checks
    The ratio π_new / π_old of single rows in later minibatches on the same rollout: above a hundred in a good part of
    the run, or above a million or below a millionth, or not a number, in most of it. Only where the first minibatch
    shows that old and new policy start out equal.

    ## Why it matters
    Rows with an enormous ratio decide the direction of the step for the whole batch; rows with a ratio of 0 are lost.
    Either way the policy that learns has nothing in common with the one that acted.

    ## Likely causes
    1. The clipped surrogate takes the maximum of its two branches, or has lost its clip. Confirm: the loss must contain
       `min(r · A, clamp(r) · A)`.
    2. The standard deviation of a Gaussian policy collapses. Confirm: `policy/entropy` falls steeply within a rollout;
       bound log σ from below.
    3. The learning rate is too high. Confirm: `step/log10_ratio` above −2.

    ## What to try first
    Read the line of the clipped surrogate: minimum, not maximum.

    ## When it is fine
    Importance weights over old data that are truncated before use: there the first minibatch does not start at 1, and
    the rule stays quiet.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017), equation 7.
    """

    code: ClassVar[str] = "POL009"
    name: ClassVar[str] = "ratio-explodes"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/ratio_max", "policy/first_log_ratio", "policy/later_log_ratio")
    follows: ClassVar[tuple[str, ...]] = (
        "ACT003",
        "NET006",
        "OPT004",
        "OPT008",
        "POL005",
        "POL007",
        "POL008",
    )
    aftermath: ClassVar[bool] = True

    most: float = 100.0  # of a ratio; healthy runs stay below 10
    share: float = 0.25  # of the later minibatches with a ratio above that
    nats: float = 13.8  # of a log ratio: a factor of a million, either way
    most_of: float = 0.5  # share of the later minibatches with a log ratio beyond that
    readings: int = 12  # of later minibatches

    def check(self, evidence: Run) -> Iterator[Finding]:
        if not evidence["policy/first_log_ratio"].finite.median() <= 0.05:
            return  # not the policy that acted: POL005, or data that is older by design
        far, ratio = evidence["policy/later_log_ratio"], evidence["policy/ratio_max"]
        far = far.keep(~np.isnan(far.value) & np.isin(far.update, ratio.update))
        if len(far) < self.readings:
            raise NotEnough(f"{len(far)} readings of later minibatches, needs {self.readings}")
        ratio = ratio.keep(np.isin(ratio.update, far.update))
        huge, beyond = ratio.value > self.most, far.value > self.nats
        if np.mean(huge) < self.share and np.mean(beyond) < self.most_of:
            return
        at = int(np.flatnonzero(huge | beyond)[0])
        yield self.finding(
            "the ratio of single rows leaves all bounds",
            where=replace(evidence.call("update"), update=int(far.update[at]), env_step=int(far.env_step[at])),
            seen=f"in {len(far)} later minibatches the largest ratio is {np.median(ratio.value):.2g} (median) and "
            f"{np.max(ratio.value):.2g} (maximum), the largest |log ratio| {np.median(far.value):.3g} and "
            f"{np.max(far.value):.3g}",
            expected="ratios below 10, log ratios below 2",
            help="take the minimum of the clipped and the unclipped surrogate, and lower the learning rate",
            confidence=0.85,
        )
