"""Observations are large, or their entries differ widely in scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObsScale(Rule):
    """Observations are in the hundreds, or of very different scales.

    ## What it checks
    The largest observation entry in the rollouts is above a hundred, or one entry is more than a thousand times as
    large as the median one. Raw pixels are left to `image-not-scaled`.

    ## Why it matters
    A first layer initialised for inputs of about 1 saturates on large ones, and small entries beside large ones are not
    seen at all.

    ## Likely causes
    1. Physical units as they are: millimetres, counts, prices, time stamps. Confirm: print the standard deviation of
       each entry.
    2. A normalisation that is left out or has not begun. Confirm: `obs/std` should be about 1.
    3. An entry that grows without a bound (a step counter, a sum). Confirm: `obs/max` grows over the run.

    ## What to try first
    Subtract the mean and divide by the standard deviation of each entry, kept as running statistics.

    ## When it is fine
    The network normalises its own input, or the observations handed over are not the ones it sees.

    ## References
    Schulman, *Nuts and Bolts of Deep RL* (standardise observations, clip to ±10).
    """

    code: ClassVar[str] = "NRM002"
    name: ClassVar[str] = "obs-scale"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("obs/min", "obs/max")

    large: float = 100.0  # size of an entry
    ratio: float = 1000.0  # largest entry over the median one
    readings: int = 3  # rollouts

    def check(self, evidence: Run) -> Iterator[Finding]:
        low, high = evidence["obs/min"].finite, evidence["obs/max"].finite
        if min(len(low), len(high)) < self.readings:
            raise NotEnough(f"{len(high)} rollouts, needs {self.readings}")
        if low.min() >= 0 and high.max() <= 255 and evidence["obs/integers"].min() == 1:
            return
        size = max(abs(low.median()), abs(high.median()))
        ratio = evidence["obs/entry_ratio"].median()
        if not (size > self.large or ratio > self.ratio):
            return
        uneven = f"; the largest entry is {ratio:.2g} times the median one" if ratio > self.ratio else ""
        yield self.finding(
            "observations are large" if size > self.large else "observation entries differ widely in scale",
            where=replace(evidence.call("rollout"), update=int(high.update[-1]), env_step=int(high.env_step[-1])),
            seen=f"entries from {low.median():.3g} to {high.median():.3g} in a typical rollout{uneven}",
            expected="entries of about 1, all of about the same size",
            help="normalise each observation entry by its running mean and standard deviation",
            confidence=0.9,
        )
