"""The policy leaves the data it learns from far behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class KlTooLarge(Rule):
    """The policy moves very far from the policy that collected the data.

    ## What it checks
    The divergence between the policy that acted and the one that learns, in the later minibatches on the same rollout,
    in most of the run. Only where the first minibatch shows that both start out equal: data from replay or from other
    actors is left alone. In the log of another library: the divergence that it has, in most of its lines; or one of
    several nats in one of the first, after which the return stays below its start.

    ## Why it matters
    The gradient describes the policy that acted. A few tenths of a nat further on it is a guess, and one bad guess can
    undo the training so far.

    ## Likely causes
    1. Several epochs on the same data without a ratio, a clip or a stop. Confirm: `policy/kl` rises from minibatch to
       minibatch of one rollout.
    2. The learning rate is too high. Confirm: `step/log10_ratio` above −2.
    3. The advantages are not normalised and large. Confirm: `advantage/std` far above 1.

    ## What to try first
    One epoch per rollout; if that helps, clip the ratio or stop the epochs at a divergence of 0.03.

    ## When it is fine
    Algorithms that correct for old data by design, with their own bound on the ratio.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017). Jones, *Debugging RL, Without the Agonizing Pain*
    (Kullback-Leibler divergence).
    """

    code: ClassVar[str] = "POL002"
    name: ClassVar[str] = "kl-too-large"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/kl", "policy/first_log_ratio", "policy/later_log_ratio")
    in_log: ClassVar[tuple[str, ...]] = ("policy/kl",)
    follows: ClassVar[tuple[str, ...]] = (
        "ACT003",
        "NET006",
        "OPT004",
        "OPT008",
        "POL005",
        "POL007",
        "POL008",
        "POL009",
    )
    aftermath: ClassVar[bool] = True

    nats: float = 0.5  # divergence; healthy runs stay a factor of ten below
    share: float = 0.6  # of the readings in the later half of each rollout's updates
    readings: int = 12  # of such updates
    thrown: float = 2.0  # nats in one of the first lines of a log

    def check(self, evidence: Run) -> Iterator[Finding]:
        kl = evidence["policy/kl"]
        kl = kl.keep(~np.isnan(kl.value))
        if "log" not in evidence.meta:  # what a log has was computed at the end of the epochs
            if not evidence["policy/first_log_ratio"].finite.median() <= 0.05:
                return  # not the policy that acted: POL005, or data that is older by design
            kl = kl.keep(np.isin(kl.update, evidence["policy/later_log_ratio"].update))
        age = evidence["batch/staleness_mean"]
        ages = dict(zip(age.update.tolist(), age.value.tolist(), strict=True))
        passed = np.array([ages.get(at, np.nan) for at in kl.update.tolist()])
        if len(kl) and np.isfinite(passed).all():
            kl = kl.keep(passed >= np.median(passed))
        if len(kl) < self.readings:
            raise NotEnough(f"{len(kl)} readings of later minibatches, needs {self.readings}")
        if "log" in evidence.meta and (once := self._thrown(evidence, kl)) is not None:
            yield once
            return
        far = kl.value > self.nats
        if np.mean(far) < self.share or kl.tail(0.5).share(kl.tail(0.5).value > self.nats) < self.share:
            return
        at = int(np.flatnonzero(far)[0])
        yield self.finding(
            "the policy moves far away from the policy that collected the data",
            where=replace(evidence.call("update"), update=int(kl.update[at]), env_step=int(kl.env_step[at])),
            seen=f"{np.median(kl.value):.2g} nats (median) in later minibatches, above {self.nats} in "
            f"{np.mean(far):.0%} of {len(kl)}",
            expected="0.001 to 0.05 nats",
            help="use fewer epochs or a lower learning rate, and stop the epochs where the divergence passes 0.03",
            confidence=0.8,
        )

    def _thrown(self, run: Run, kl: Series) -> Finding | None:
        """A policy that one update has made useless hardly moves later: there is nothing left to learn from."""
        first, rise = kl.head(0.1), run["episode/return_rise"].finite
        if first.max() < self.thrown or not len(rise) or rise.tail(0.5).max() >= 0:
            return None
        at = int(np.argmax(first.value))
        return self.finding(
            "one of the first updates threw the policy far away, and the return has been below its start since",
            where=first.where(at),
            seen=f"{first.max():.2g} nats at env step {first.env_step[at]}, {kl.tail(0.5).median():.2g} (median) in "
            f"the second half; the return {-rise.tail(0.5).median():.2g} standard errors below its start",
            expected="0.001 to 0.05 nats",
            help="divide the learning rate by ten, and check that gradients are clipped and advantages normalised",
            confidence=0.75,
        )
