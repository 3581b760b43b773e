"""A projection of distributions over returns drops a part of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.projected_mass import lost, projected
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ProjectionLosesMass(Rule):
    """A projection of distributions over returns drops a part of them.

    ## What it checks
    Targets of a distributional critic (C51) beside the next state's distribution, moved by reward and discount and
    shared out between neighbouring atoms. In most rows the target is nowhere larger, at some atoms smaller, and does
    not sum to 1: it is that projection, and a part of it is missing.

    ## Why it matters
    The missing mass pulls the prediction nowhere. What is left is a return other than the one that was computed.

    ## Likely causes
    1. Several atoms fall between the same two, and what they bring is written over instead of added up: `scatter_` for
       `scatter_add_`, `m[rows, low] += p` for `index_add_`. Confirm: sum the target over its atoms.
    2. Only the lower of the two neighbours gets its share, or only the upper. Confirm: the same.
    3. Atoms that fall off the support are dropped, not held within it. Confirm: look for the clamp.

    ## What to try first
    Print `target.sum(-1)`: it is 1 in every row, or something is lost.

    ## When it is fine
    Never, as far as we know. Rows that are weighed as a whole are not counted.

    ## References
    Bellemare et al., *A Distributional Perspective on Reinforcement Learning* (2017).
    """

    code: ClassVar[str] = "VAL260"
    name: ClassVar[str] = "projection-loses-mass"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    rows: int = 48  # whose proper target is known
    audits: int = 2  # in which there are such
    below: float = 0.9  # of them lie nowhere above it
    share: float = 0.5  # of them lost something

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = projected(evidence)
        if found is None or len(found.sums) < self.rows or found.audits < self.audits:
            count = 0 if found is None else len(found.sums)
            raise NotEnough(f"{count} rows of distributions whose reward and next distribution are known")
        missing = lost(found)
        if found.below.mean() < self.below or missing.mean() < self.share or found.uneven[missing].mean() < self.below:
            return
        yield self.finding(
            "the projection of the next distribution drops a part of it",
            where=found.where,
            seen=f"targets sum to {np.median(found.sums):.3g} (median of {len(found.sums)} rows), and lie below the "
            f"projection with discount {found.gamma:.4g}, nowhere above it, in {found.below.mean():.0%}",
            expected="1 in every row",
            help="add up what falls on the same atom: scatter_add_ or index_add_, for both of its neighbours",
            confidence=0.95,
        )
