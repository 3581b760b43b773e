"""Within a group, the better answer has the lower advantage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.forensics.answers import correlations
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardLowersAdvantage(Rule):
    """Within a group, the better answer has the lower advantage.

    ## What it checks
    In nearly every group of answers rewards and advantages go in opposite directions.

    ## Why it matters
    The worst answers are made likelier: training goes downhill.

    ## Likely causes
    1. The sign of the difference is turned round: `mean - rewards`. Confirm: print rewards and advantages of a group.
    2. A cost is returned as a reward, or a weight in `reward_weights` is negative where the advantage is not.
       Confirm: look at the weights.

    ## What to try first
    Take `rewards - mean`.

    ## When it is fine
    Never.

    ## References
    Sutton and Barto, section 13.4 (baselines).
    """

    code: ClassVar[str] = "ADV512"
    name: ClassVar[str] = "reward-lowers-advantage"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    against: float = -0.9  # correlation within a group
    share: float = 0.8  # of groups
    groups: int = 4  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        found = correlations(evidence, "reward", "advantage")
        if len(found) < self.groups:
            raise NotEnough(f"{len(found)} groups in which both differ, needs {self.groups}")
        wrong = int((found < self.against).sum())
        if wrong < self.share * len(found):
            return
        yield self.finding(
            "within a group, the better answer has the lower advantage",
            seen=f"in {wrong} of {len(found)} groups rewards and advantages go in opposite directions",
            expected="more reward, more advantage",
            help="take rewards - mean, not mean - rewards",
            confidence=0.96,
        )
