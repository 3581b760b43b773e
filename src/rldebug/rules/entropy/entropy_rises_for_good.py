"""The policy commits early and has to be talked out of it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyRisesForGood(Rule):
    """The entropy has an early minimum and then rises for good.

    ## What it checks
    The moving average of the relative entropy reaches its minimum in the first part of the run, below where it started,
    then rises by a large part of its range and is still there at the end.

    ## Why it matters
    The policy had found something that paid at once and is climbing out of it, or is being pushed back to randomness.

    ## Likely causes
    1. A short-sighted behaviour was learned first. Confirm: `episode/return_mean` has an early bump; more exploration
       at the start removes the minimum.
    2. The entropy coefficient grows over time: its schedule runs the wrong way. Confirm: print the coefficient at the
       first and the last update.
    3. The advantages shrink as the critic learns and the bonus is left over. Confirm: `advantage/std` falls while the
       entropy rises; normalise the advantages.

    ## What to try first
    Print the entropy coefficient at the first and the last update.

    ## When it is fine
    A curriculum or a change of task gives the policy new states to be unsure about, or the solved task leaves many
    actions equally good.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (large, permanent increase after an early minimum).
    """

    code: ClassVar[str] = "ENT004"
    name: ClassVar[str] = "entropy-rises-for-good"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("policy/entropy_rel",)

    within: float = 0.4  # share of the run in which the minimum counts as early
    rise: float = 0.3  # of the range [0, 1], from the minimum to the end
    readings: int = 40  # of the entropy

    def check(self, evidence: Run) -> Iterator[Finding]:
        entropy = evidence["policy/entropy_rel"].finite
        if len(entropy) < self.readings:
            raise NotEnough(f"{len(entropy)} readings of the entropy, needs {self.readings}")
        smooth = entropy.ema(half_life=4)
        lowest = int(np.argmin(smooth.value))
        early = smooth.update[lowest] <= self.within * smooth.update[-1]
        bottom, end = float(smooth.value[lowest]), smooth.tail(0.25)
        if not early or smooth.first - bottom < 0.5 * self.rise or end.min() - bottom < self.rise:
            return
        yield self.finding(
            "policy entropy rose again after an early minimum and stayed up",
            where=entropy.where(lowest),
            seen=f"{smooth.first:.2f} of the maximum at the start, {bottom:.2f} at update {smooth.update[lowest]}, "
            f"{end.median():.2f} in the last quarter",
            expected=f"a rise of less than {self.rise} after the minimum",
            help="print the entropy coefficient at the first and the last update; if it is constant, explore more",
            confidence=0.6,
        )
