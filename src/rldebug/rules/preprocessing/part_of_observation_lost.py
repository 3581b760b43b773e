"""A part of an observation of several parts is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PartOfObservationLost(Rule):
    """A part of an observation of several parts is lost.

    ## What it checks
    Observations of two parts, a dict or a tuple, of which both are needed to know what to do: the right action is not
    learned.

    ## Why it matters
    The agent acts on half of what it is told.

    ## Likely causes
    1. A key is dropped, or read twice. Confirm: print what enters the network for two observations that differ in one
       part.
    2. Parts are laid side by side in one order when acting, and in another when learning. Confirm: compare both for
       one observation.
    3. The buffer keeps one part by reference. Confirm: compare what is stored with what was seen.

    ## What to try first
    Print what enters the network for observations that differ in one part only.

    ## When it is fine
    Never.

    ## References
    Gymnasium, `spaces.Dict` and `FlattenObservation`.
    """

    code: ClassVar[str] = "PRE011"
    name: ClassVar[str] = "part-of-observation-lost"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for name in ("dict-observation", "tuple-observation"):
            rung = evidence[name]
            if rung.outcome == "failed":
                yield self.finding(
                    "a part of an observation of several parts is lost",
                    **shown(rung),
                    help="print what enters the network for observations that differ in one part only",
                    confidence=0.8,
                )
                return
