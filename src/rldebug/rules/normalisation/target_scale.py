"""Value targets are very large or very small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetScale(Rule):
    """Value targets are in the hundreds or more, or all but zero.

    ## What it checks
    The size of the value targets, the larger of |mean| and standard deviation: above a hundred over the second half of
    the run, or every target of the run within ±0.01.

    ## Why it matters
    Networks start with outputs of about 1 and move by about one learning rate per step. Targets in the thousands take
    many steps to reach and make the value loss drown every other loss on shared layers; tiny ones drown in noise.

    ## Likely causes
    1. Rewards are used as the environment gives them. Confirm: `reward/mean` and `reward/std`; multiply rewards by the
       factor in the finding.
    2. The discount is so close to 1 that returns add up over very many steps. Confirm: |reward| / (1 − γ) is the size
       of the targets.
    3. Targets feed on themselves and grow. Confirm: `target/mean` grows without a bound while rewards do not.

    ## What to try first
    Scale the rewards by the factor in the finding. Scale, do not shift: a shift changes what is best.

    ## When it is fine
    The critic has a normalised head, a large output gain, or a head for categories; or the run learns well anyway.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (value target distribution). Schulman, *Nuts and Bolts of Deep
    RL*.
    """

    code: ClassVar[str] = "NRM001"
    name: ClassVar[str] = "target-scale"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("target/mean", "target/std", "target/min", "target/max")

    large: float = 100.0  # ten times the size that trains easily
    small: float = 0.01  # all targets within this of 0
    readings: int = 10  # fewer are the start of a run, when targets are still small

    def check(self, evidence: Run) -> Iterator[Finding]:
        mean, std = evidence["target/mean"].finite, evidence["target/std"].finite
        if len(mean) < self.readings or len(mean) != len(std):
            raise NotEnough(f"{len(mean)} readings of the targets, needs {self.readings}")
        size = float(np.median(np.maximum(np.abs(mean.tail(0.5).value), std.tail(0.5).value)))
        widest = max(abs(evidence["target/min"].min()), abs(evidence["target/max"].max()))
        where = replace(evidence.call("update"), update=int(mean.update[-1]), env_step=int(mean.env_step[-1]))
        if size > self.large:
            factor = 10.0 ** np.floor(np.log10(3.0 / size))
            yield self.finding(
                f"value targets are around {size:.2g}",
                where=where,
                seen=f"a size of {size:.3g} over the second half of the run, from {evidence['target/min'].min():.3g} "
                f"to {evidence['target/max'].max():.3g}",
                expected="targets within about ±10",
                help=f"multiply the rewards by {factor:g}, or normalise the targets",
                confidence=0.9,
            )
        elif 0.0 < widest < self.small:
            factor = 10.0 ** np.floor(np.log10(1.0 / widest))
            yield self.finding(
                "value targets are all but zero",
                where=where,
                seen=f"every target of the run within ±{widest:.2g}",
                expected="targets of about 1",
                help=f"multiply the rewards by {factor:g}",
                confidence=0.9,
            )
