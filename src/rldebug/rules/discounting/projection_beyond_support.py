"""Probabilities are added at a place that the support does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.index import beyond
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ProjectionBeyondSupport(Rule):
    """Probabilities are added at a place that the support does not have.

    ## What it checks
    Numbers were added up at places given by an index, as `scatter_add_` and `index_add_` do, and one place is beyond
    the last. In RL that is the projection of a categorical target, or a histogram of rewards or returns.

    ## Why it matters
    The shifted atoms `r + γz` leave the support at both ends; they belong to its first and its last atom.

    ## Likely causes
    1. The shifted atoms are not clamped to the support before they are turned into places. Confirm: print the least and
       the greatest of the index.
    2. With several rows in one flat tensor, the offset of a row is wrong. Confirm: the same, less the offset.
    3. The width of a bin is the range divided by the number of atoms, not by one less. Confirm: the last atom.

    ## What to try first
    Clamp the values before `floor` and `ceil`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Bellemare et al. 2017, *A Distributional Perspective on Reinforcement Learning*, algorithm 1.
    """

    code: ClassVar[str] = "DIS470"
    name: ClassVar[str] = "projection-beyond-support"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        found = beyond(evidence)
        return found is not None and found.adds

    def check(self, evidence: Crash) -> Iterator[Finding]:
        found = beyond(evidence)
        if found is None or not found.adds:
            return
        name = found.name or "an index"
        index = f" is {found.index}," if found.index is not None else " is"
        last = f"the last of {found.size} places" if found.size is not None else "the last place"
        yield self.finding(
            f"{name}{index} beyond {last} that are added to" if found.size else f"{name}{index} beyond {last}",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected=f"places from 0 to {found.size - 1 if found.size else 'the number of atoms less 1'}",
            help=f"clamp what {found.name or 'the index'} is rounded from: in a projection, "
            "(reward + gamma * atoms).clamp(v_min, v_max) before floor() and ceil()",
            confidence=0.7,
        )
