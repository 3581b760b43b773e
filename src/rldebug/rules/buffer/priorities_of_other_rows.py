"""The priorities of a replay do not follow the errors of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.priorities import drawn_again, left_out
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PrioritiesOfOtherRows(Rule):
    """Priorities of a replay do not follow the errors of their rows.

    ## What it checks
    Rows that a prioritised replay draws twice within a few updates: their error the first time, beside their weight the
    second time. The larger the error was, the larger the priority must be, and the smaller the weight. Here the two
    have nothing to do with each other; or rows whose errors have one of the two signs are hardly drawn again.

    ## Why it matters
    Rows are drawn often that are learned already, and those that are not are seldom seen.

    ## Likely causes
    1. Errors are written to other rows than those they belong to: the indices were sorted, shuffled, or are those of
       the leaves of a tree for rows of the memory. Confirm: print the index and the error of one row where it is drawn
       and where its priority is written.
    2. The rows of the batch were put into another order between drawing and learning. Confirm: the same.
    3. Errors keep their sign, and negative ones are cut off at 0. Confirm: look for the absolute value.

    ## What to try first
    Write the priorities with the very indices that the batch was drawn with, in their order.

    ## When it is fine
    Where priorities are made of something else than errors, as of novelty or of age.

    ## References
    Schaul et al. 2016, *Prioritized Experience Replay*.
    """

    code: ClassVar[str] = "BUF356"
    name: ClassVar[str] = "priorities-of-other-rows"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("BUF318", "BUF350")

    rows: int = 120  # that were drawn again
    audits: int = 3  # that they are from
    missing: float = 0.15  # of a sign's share in large errors, among rows that are drawn again
    least: float = 0.2  # a correlation without meaning; where priorities follow errors it is 0.8 and more

    def check(self, evidence: Script) -> Iterator[Finding]:
        several = drawn_again(evidence)
        later = several[len(several) // 2 :]
        sides = left_out(later)
        if sides is not None and sides[1] < self.missing * sides[0]:
            yield self._of_one_sign(*sides, later[0].term)
            return
        again = [each for each in several
                 if np.ptp(np.log(each.error)) > 0.5 and np.ptp(np.log(each.weight)) > 0.05]  # fmt: skip
        count = sum(len(each.error) for each in again)
        if count < self.rows or len({each.audit.number for each in again}) < self.audits:
            raise NotEnough(f"{count} rows that were drawn again while it was looked, needs {self.rows}")
        error = np.concatenate([_centred(each.error) for each in again])
        weight = np.concatenate([_centred(each.weight) for each in again])
        agreement = float(np.corrcoef(error, weight)[0, 1])
        if abs(agreement) < self.least and not any(np.isfinite(each.slope) for each in again[len(again) // 2 :]):
            yield self.finding(
                "priorities do not follow the errors of their rows",
                where=again[0].term.where,
                seen=f"of {count} rows that were drawn again soon, the weight has a correlation of {agreement:+.2f} "
                "with the error before",
                expected="the larger the error, the smaller the weight: -0.8 or less",
                help="write the priorities with the indices that the batch was drawn with, in their order",
                confidence=0.9,
            )

    def _of_one_sign(self, large: float, soon: float, term: Event) -> Finding:
        return self.finding(
            "priorities leave out errors of one sign",
            where=term.where,
            seen=f"{large:.0%} of the large errors have it, and {soon:.1%} of those of rows that are drawn again soon",
            expected="as many, since priorities are those of the absolute error",
            help="abs(error) + epsilon",
            confidence=0.92,
        )


def _centred(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks within the batch, from -1 to 1."""
    ranks = np.argsort(np.argsort(numbers, kind="stable"), kind="stable")
    return np.asarray(2.0 * ranks / (len(ranks) - 1) - 1.0, dtype=np.float64)
