"""Advantages are made of differences in reward that hardly matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TinyDifferencesBlownUp(Rule):
    """Advantages are made of differences in reward that hardly matter.

    ## What it checks
    Groups whose answers differ in reward by less than a hundredth of what rewards differ overall, and have full
    advantages all the same.

    ## Why it matters
    Divided by the group's deviation, a difference of a thousandth counts as much as right against wrong. The policy
    learns the noise, or the smallest bonus.

    ## Likely causes
    1. A small bonus (length, format) breaks ties between answers that are all right, or all wrong. Confirm: print
       rewards of such a group.
    2. Rewards have noise, as from a judge or a rounding. Confirm: score an answer twice.

    ## What to try first
    `scale_rewards="none"`; round rewards; leave groups out that differ by less than matters.

    ## When it is fine
    Where the small differences are what should be learned.

    ## References
    Dr. GRPO, arXiv 2503.20783, section 3.1 (bias of dividing by the deviation).
    """

    code: ClassVar[str] = "ADV515"
    name: ClassVar[str] = "tiny-differences-blown-up"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"

    small: float = 0.01  # what a group's rewards differ by, of what all differ by
    advantage: float = 0.5  # largest in the group, from which on it counts
    share: float = 0.5  # of groups whose rewards differ
    groups: int = 8  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        every = evidence.all("reward")
        every = every[np.isfinite(every)]
        spread = float(np.ptp(every)) if len(every) else 0.0
        blown = whole = 0
        for each in evidence.rounds:
            reward, advantage = each.column("reward"), each.column("advantage")
            for rows in each.groups(evidence.size):
                differ = float(np.ptp(reward[rows]))
                if differ > 1e-9:  # not where one is NaN
                    whole += 1
                    blown += differ < self.small * spread and float(np.abs(advantage[rows]).max()) > self.advantage
        if whole < self.groups:
            raise NotEnough(f"{whole} groups whose rewards differ, needs {self.groups}")
        if blown < self.share * whole:
            return
        yield self.finding(
            "advantages are made of differences in reward that hardly matter",
            seen=f"in {blown} of {whole} groups rewards differ by less than {self.small:.0%} of "
            f"{spread:.3g}, with full advantages",
            expected="advantages in proportion to what rewards differ by",
            help="do not divide by the group's deviation (scale_rewards), or round the rewards",
            confidence=0.7,
        )
