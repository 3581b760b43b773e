"""The advantages of a group do not sum to zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GroupAdvantagesNotCentred(Rule):
    """The advantages of a group do not sum to zero.

    ## What it checks
    Within a group of answers to one prompt the advantages should balance, whatever they are divided by. In most
    groups they do not.

    ## Why it matters
    Without the group's own mean as a baseline every answer to an easy prompt is pushed up, and every answer to a hard
    one down.

    ## Likely causes
    1. The mean is taken over the whole batch, not over the group. Confirm: a group with equal rewards has advantages
       that are not 0.
    2. No baseline is subtracted. Confirm: advantages have the sign of the rewards.
    3. Rewards are reshaped the wrong way round before the mean: `view(num_generations, -1)`. Confirm: look at the
       `view`.

    ## What to try first
    Subtract `rewards.view(-1, num_generations).mean(1)`, repeated for each answer.

    ## When it is fine
    Methods that have a learned baseline instead of the group's mean.

    ## References
    DeepSeekMath, section 4.1; Dr. GRPO, arXiv 2503.20783.
    """

    code: ClassVar[str] = "ADV511"
    name: ClassVar[str] = "group-advantages-not-centred"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = ("ADV510",)

    off: float = 0.2  # |sum| of the advantages of a group, of the sum of their sizes
    share: float = 0.5  # of groups with advantages
    groups: int = 4  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        wrong = whole = 0
        worst = 0.0
        for each in evidence.rounds:
            advantage, unscored = each.column("advantage"), each.column("unscored")
            for rows in each.groups(evidence.size):
                size = float(np.abs(advantage[rows]).sum())
                if evidence.size < 2 or np.nansum(unscored[rows]) > 0 or not size > 1e-4:
                    continue
                whole += 1
                off = abs(float(advantage[rows].sum())) / size
                worst = max(worst, off)
                wrong += off > self.off
        if whole < self.groups:
            raise NotEnough(f"{whole} groups with advantages, needs {self.groups}")
        if wrong < self.share * whole:
            return
        yield self.finding(
            "the advantages of a group do not sum to zero: its own mean is not the baseline",
            seen=f"in {wrong} of {whole} groups the sum is more than {self.off:.0%} of the sum of sizes, "
            f"up to {worst:.0%}",
            expected="advantages of one group sum to 0",
            help="subtract the mean reward of the same prompt's answers: rewards.view(-1, num_generations).mean(1)",
            confidence=0.93,
        )
