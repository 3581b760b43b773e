"""Each rank normalises observations by statistics of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ranks import called, ranks
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RanksNormaliseApart(Rule):
    """Each rank normalises observations by statistics of its own.

    ## What it checks
    What networks are given for an observation is a straight line of it, per element. At the same rollout that line has
    another slope or shift on another rank.

    ## Why it matters
    The weights are shared, and what they are given is not: the same observation means something else on each rank, and
    the statistics that are saved fit the data of one rank alone.

    ## Likely causes
    1. Running mean and deviation are updated with the rank's own data, and never reduced. Confirm: print the mean on
       each rank.

    ## What to try first
    Add up counts, sums and squares over all ranks with `all_reduce` when the statistics are updated.

    ## When it is fine
    After very long runs, when the statistics of all ranks have become the same by themselves.

    ## References
    Bug kind MPR-06 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "MPR356"
    name: ClassVar[str] = "ranks-normalise-apart"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    rollouts: int = 2  # at which ranks differ
    apart: float = 0.02  # relative difference of a slope; of a shift, in deviations of the input

    def check(self, evidence: Script) -> Iterator[Finding]:
        members = [each for each in ranks(evidence) if each.get("inputs")]
        if len(members) < 2:
            raise NotEnough(f"of {len(members)} processes of one group it is known how observations enter, needs 2")
        first = members[0]
        for other in members[1:]:
            apart, compared = [], 0
            for key in first["inputs"]:
                if key not in other["inputs"]:
                    continue
                compared += 1
                slopes, off = self._apart(first["inputs"][key], other["inputs"][key])
                if off:
                    apart.append((key, slopes))
            if len(apart) >= self.rollouts and 2 * len(apart) >= compared:
                key, slopes = apart[-1]
                name = key.rpartition("@")[0]
                yield self.finding(
                    "each rank normalises observations by statistics of its own",
                    seen=f"an observation enters `{name}` times {slopes[0]:.3g} on {called(first)} and "
                    f"times {slopes[1]:.3g} on {called(other)}; so in {len(apart)} of {compared} rollouts",
                    expected="the same mean and deviation on every rank",
                    help="reduce counts, sums and squares over all ranks when the statistics are updated",
                    confidence=0.9,
                )
                return

    def _apart(self, one: list[list[float]], other: list[list[float]]) -> tuple[tuple[float, float], bool]:
        """Slopes of the element that differs most, and whether any does."""
        (a, b, spread), (c, d, _) = (tuple(np.array(each, dtype=np.float64) for each in side) for side in (one, other))
        if a.shape != c.shape:
            return (0.0, 0.0), False
        known = np.isfinite(a) & np.isfinite(c) & (a != 0)
        if not known.any():
            return (0.0, 0.0), False
        a, b, c, d, spread = a[known], b[known], c[known], d[known], spread[known]
        steep = np.abs(c / a - 1.0)
        moved = np.abs(d - b) / np.maximum(np.abs(a) * spread, 1e-9)
        most = int(np.argmax(steep))
        return (float(a[most]), float(c[most])), bool((steep > self.apart).any() or (moved > 10 * self.apart).any())
