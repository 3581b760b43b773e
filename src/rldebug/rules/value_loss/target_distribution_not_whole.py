"""The distribution that is learned does not sum to 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetDistributionNotWhole(Rule):
    """Target distributions do not sum to 1.

    ## What it checks
    In losses that fit a distribution per row, as distributional critics do: the sum of each row of the target. Most
    rows sum to 1, so these are probabilities; some do not. Exact.

    ## Why it matters
    Mass that is lost pulls the prediction nowhere, mass that is counted twice pulls too hard; mostly at terminal
    states, where the target is a single number.

    ## Likely causes
    1. The projection splits the mass of an atom between its two neighbours by distance: where it falls exactly on an
       atom, both are the same, and both weights are 0, or both are 1. Confirm: project a reward that lies on an atom.
    2. The support is clipped after the projection. Confirm: compare the sums before and after.

    ## What to try first
    Where lower and upper neighbour are equal, give all mass to it.

    ## When it is fine
    Weights for rows are not part of the target.

    ## References
    Bellemare et al., *A Distributional Perspective on Reinforcement Learning* (2017).
    Seen in the wild: VAL-10, VAL-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "VAL332"
    name: ClassVar[str] = "target-distribution-not-whole"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    rows: int = 3  # with another sum
    apart: float = 1e-3  # of a sum from 1

    def check(self, evidence: Script) -> Iterator[Finding]:
        sums: list[float] = []
        first: Event | None = None
        for _, term in evidence.events("term"):
            target = term.arrays.get("target")
            if target is None or target.ndim != 2 or target.shape[1] < 3 or term["kind"] == "regression":
                continue
            if not np.isfinite(target).all() or float(target.min()) < -1e-6:
                continue
            rows = target.astype(np.float64).sum(axis=1)
            sums += rows.tolist()
            first = term if first is None and (np.abs(rows - 1) > self.apart).any() else first
        total = np.array(sums)
        if len(total) < 32 or np.median(np.abs(total - 1)) > 1e-4:
            raise NotEnough("no loss whose targets are distributions")
        bad = np.abs(total - 1) > self.apart
        if first is None or int(bad.sum()) < self.rows:
            return
        yield self.finding(
            "some of the target distributions do not sum to 1",
            where=first.where,
            seen=f"sums between {total.min():.3f} and {total.max():.3f}, off in {int(bad.sum())} of {len(total)} rows",
            expected="1 in every row",
            help="in the projection, give all mass to an atom that is hit exactly",
            confidence=0.97,
        )
