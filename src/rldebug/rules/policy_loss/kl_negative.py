"""The divergence the loop computes comes out negative."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class KlNegative(Rule):
    """The KL divergence the loop computes is negative.

    ## What it checks
    The divergence handed over as `kl=`. It is reported if it is exactly the opposite of the usual estimator,
    mean(log π_old − log π_new), in every update; or if it is below 0 in most updates by far more than it scatters. The
    usual estimator itself may be a little below 0, and is left alone.

    ## Why it matters
    A divergence is never negative. Early stopping and KL penalties that are fed this number do the opposite of what
    they should, or nothing.

    ## Likely causes
    1. New and old are swapped: mean(log π_new − log π_old) over actions of the old policy. Confirm: it equals
       −`policy/kl_k1`.
    2. Actions that are not allowed enter the sum with a probability of 0 and a log-prob that is not. Confirm: leave
       them out of both policies and compare.
    3. The probabilities do not sum to 1. Confirm: `p.sum(-1)`.

    ## What to try first
    Compute `((logp_new - logp_old).exp() - 1 - (logp_new - logp_old)).mean()`, which cannot be negative.

    ## When it is fine
    Single negative values of the sampled estimator on small batches.

    ## References
    Schulman, *Approximating KL Divergence* (2020). Jones, *Debugging RL, Without the Agonizing Pain* (KL divergence).
    """

    code: ClassVar[str] = "POL001"
    name: ClassVar[str] = "kl-negative"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("policy/kl_given",)

    readings: int = 8  # of a divergence other than 0
    share: float = 0.8  # of them that must be negative
    errors: float = 5.0  # standard errors below 0
    match: float = 1e-3  # relative difference under which two divergences are the same number

    def check(self, evidence: Run) -> Iterator[Finding]:
        given = evidence["policy/kl_given"].finite
        given = given.keep(np.abs(given.value) > 1e-7)  # 0 in first minibatches, and rounding
        if len(given) < self.readings:
            raise NotEnough(f"{len(given)} readings of a divergence other than 0, needs {self.readings}")
        where = replace(
            evidence.call("update"), update=int(given.update[0]), env_step=int(given.env_step[0]), tensor="kl"
        )
        plain = evidence["policy/kl_k1"].finite
        known = dict(zip(plain.update.tolist(), plain.value.tolist(), strict=True))
        pairs = [
            (v, known[at]) for at, v in zip(given.update.tolist(), given.value.tolist(), strict=True) if at in known
        ]
        if len(pairs) >= self.readings:
            ours, theirs = np.array(pairs).T
            close = self.match * np.abs(theirs) + 1e-7
            if np.mean(np.abs(ours + theirs) <= close) > 0.95:
                yield self.finding(
                    "the divergence handed over has the opposite sign",
                    where=where,
                    seen=f"mean(log π_new − log π_old) in all of {len(pairs)} updates, mean {ours.mean():.2e} nats",
                    expected=f"mean(log π_old − log π_new), mean {theirs.mean():.2e} nats",
                    help="swap the operands: the actions were drawn from the old policy",
                    confidence=0.96,
                )
                return
            if np.ptp(ours) > 0 and np.ptp(theirs) > 0 and np.corrcoef(ours, theirs)[0, 1] > 0.8:
                return  # the plain estimator, perhaps over other rows: it may be negative
        mean = float(np.mean(given.value))
        error = float(np.std(given.value)) / math.sqrt(len(given))
        below = float(np.mean(given.value < 0))
        if below < self.share or mean > -self.errors * error or mean > -1e-5:
            return
        yield self.finding(
            "the divergence handed over is negative",
            where=where,
            seen=f"below 0 in {below:.0%} of {len(given)} updates, mean {mean:.2e} nats",
            expected="at least 0",
            help="leave out actions that are not allowed, normalise the probabilities, and put the old policy first",
            confidence=0.9,
        )
