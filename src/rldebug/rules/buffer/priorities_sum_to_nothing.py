"""The priorities that a batch is drawn by sum to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PrioritiesSumToNothing(Rule):
    """The priorities that a batch is drawn by sum to nothing.

    ## What it checks
    A weighted draw was refused because its weights sum to zero or are not finite.

    ## Why it matters
    Each item is drawn in proportion to its priority. Without any there is no proportion.

    ## Likely causes
    1. New transitions get priority zero. Confirm: print the priorities after the first store.
    2. TD errors became NaN. Confirm: the same.
    3. No small constant is added to the TD error. Confirm: look for the epsilon.

    ## What to try first
    Store new transitions with the greatest priority so far, and add a small constant.

    ## When it is fine
    Never: the program has ended.

    ## References
    Schaul et al. 2016, *Prioritized Experience Replay*.
    """

    code: ClassVar[str] = "BUF453"
    name: ClassVar[str] = "priorities-sum-to-nothing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("Total of weights must be (greater than zero|finite)")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the priorities sum to zero or are not finite",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="positive priorities",
            help="give new transitions the greatest priority so far, and store abs(td_error) + 1e-6",
            confidence=0.9,
        )
