"""The importance weights of a prioritised replay are all but zero, save one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ImportanceWeightsVanish(Rule):
    """Importance weights are all but zero, save one in the batch.

    ## What it checks
    The weights by which the rows of a regression are multiplied, where none is negative, the largest is 1 and several
    are in between. Half of a batch have less than a five-hundredth of the largest.

    ## Why it matters
    The update learns from one row. All others were drawn for nothing.

    ## Likely causes
    1. A row with priority zero was drawn: the walk down the tree ended in an empty leaf, and its weight is enormous.
       Confirm: print the smallest probability in a batch.
    2. Priorities of new rows are zero, or not the largest so far. Confirm: the same, for rows just stored.
    3. The exponent is far too large. Confirm: print beta.

    ## What to try first
    Draw marks below the total, not up to it, and keep priorities above some small number.

    ## When it is fine
    Masks of zeros and ones are not counted.

    ## References
    Schaul et al., *Prioritized Experience Replay*.
    Seen in the wild: BUF-10, BUF-12 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF318"
    name: ClassVar[str] = "importance-weights-vanish"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    batches: int = 2  # that show it
    small: float = 0.002  # half of the rows have less than this share of the largest weight
    rows: int = 16  # of a batch

    def check(self, evidence: Script) -> Iterator[Finding]:
        looked = 0
        found: list[tuple[Event, float]] = []
        for _, term in evidence.events("term"):
            weight = term.arrays.get("weight")
            if weight is None or term["kind"] not in ("regression", "classification") or weight.size < self.rows:
                continue
            flat = np.ravel(weight)
            if flat.min() < 0 or abs(float(flat.max()) - 1) > 1e-3 or len(np.unique(flat)) < 4:
                continue
            looked += 1
            middle = float(np.median(flat))
            if middle < self.small:
                found.append((term, middle))
        if not looked:
            raise NotEnough("no regression with importance weights was seen")
        if len(found) >= self.batches:
            yield self.finding(
                "importance weights are all but zero, save one in the batch",
                where=found[0][0].where,
                seen=f"half of the weights below {max(middle for _, middle in found):.2g} of the largest in "
                f"{len(found)} of "
                f"{looked} batches",
                expected="weights that differ by a factor of ten or so",
                help="see that rows of priority zero are never drawn, and that new rows get the largest priority "
                "so far",
                confidence=0.9,
            )
