"""A step that promises to stay within a KL limit does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TrustRegionLeft(Rule):
    """Steps leave the trust region they promise to stay in.

    ## What it checks
    The divergence between the policy before and after the step, handed over as `kl=`, relative to the limit handed over
    as `kl_limit=`. Reported where it is well above the limit in most updates: a step that holds to its limit never is.

    ## Why it matters
    The promise of TRPO that the return does not fall holds inside the region only. Outside of it the surrogate is a
    guess, and a line search that asks for improvement alone accepts the guess.

    ## Likely causes
    1. The line search asks whether the surrogate improved, and not whether the divergence is within the limit. Confirm:
       read its condition.
    2. The step that the line search rejects is taken all the same: the old parameters are not put back. Confirm:
       compare the parameters before and after a search that failed.
    3. The limit is checked on other rows, against another policy, or before the last change to the parameters. Confirm:
       compute the mean KL(old ‖ new) on the whole batch at the end of the update.
    4. The step is too long, and only its size is trusted: √(2 · limit / xᵀFx) holds for a quadratic divergence, and F
       without damping, from few rows or few iterations, is a rough one. Confirm: the first try of the line search is
       far above the limit.

    ## What to try first
    Print the divergence of every try of the line search, and the one that is taken.

    ## When it is fine
    A target rather than a limit, as in PPO with a KL penalty or early stopping: hand over `kl=` alone.

    ## References
    Schulman et al., *Trust Region Policy Optimization* (2015), appendix C.
    """

    code: ClassVar[str] = "POL012"
    name: ClassVar[str] = "trust-region-left"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/kl_over_limit",)
    follows: ClassVar[tuple[str, ...]] = ("ACT003", "NET006", "POL005")

    times: float = 1.5  # the limit; a line search that allows some slack stays below
    share: float = 0.5  # of the readings, and more
    readings: int = 5  # of a divergence with its limit

    def check(self, evidence: Run) -> Iterator[Finding]:
        ratio = evidence["policy/kl_over_limit"]
        ratio = ratio.keep(~np.isnan(ratio.value))  # an infinite divergence counts, and is above every limit
        if len(ratio) < self.readings:
            raise NotEnough(f"{len(ratio)} readings of a divergence with its limit, needs {self.readings}")
        over = ratio.value > self.times
        if np.mean(over) <= self.share:
            return
        at = int(np.flatnonzero(over)[0])
        yield self.finding(
            "the policy step leaves its trust region",
            where=replace(evidence.call("update"), update=int(ratio.update[at]), env_step=int(ratio.env_step[at])),
            seen=f"{np.median(ratio.value):.2g} times the limit (median), above {self.times:g} in {np.mean(over):.0%} "
            f"of {len(ratio)} updates, up to {np.max(ratio.value):.2g}",
            expected="at most 1 times the limit",
            help="shorten the step until the mean KL(old ‖ new) on the batch is within the limit, or take none",
            confidence=0.9,
        )
