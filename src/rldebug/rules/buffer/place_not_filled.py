"""A place of a buffer is drawn that is not filled yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, shown
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PlaceNotFilled(Rule):
    """A place of a buffer is drawn that is not filled yet.

    ## What it checks
    The program ended because a list or a dictionary of rows has no entry of a number that was drawn at random, and the
    number is not smaller than the number of entries.

    ## Why it matters
    Rows are drawn from all places that there will be once, rather than from those that are filled.

    ## Likely causes
    1. The numbers are drawn below the capacity. Confirm: compare with `len(buffer)`.
    2. Both ends are included, as those of `random.randint(a, b)` are. Confirm: the number equals the length.

    ## What to try first
    Draw below `len(buffer)`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `random`.
    """

    code: ClassVar[str] = "BUF480"
    name: ClassVar[str] = "place-not-filled"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("KeyError", "IndexError") and evidence.graph.get("fault") == "place"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        name, holds, index = graph["name"] or "the buffer", graph["holds"], graph["index"]
        last = f"the last of them is {holds - 1}" if holds else "it is empty"
        which = "a place beyond the last" if index is None else f"place {index}"
        yield self.finding(
            f"{which} of {name} was drawn, which holds {holds} rows",
            where=at(evidence, graph["drawn"]),
            seen=f"{evidence.said}; {name} holds {holds}: {last}; drawn in {shown(evidence, graph['drawn'])}",
            expected=f"places from 0 to {holds - 1}" if holds else "a row to draw",
            help=f"draw below len({name}), not below its capacity"
            + (
                "; random.randint(a, b) includes b: randrange(len(…)) does not"
                if index == holds or graph.get("inclusive")
                else ""
            ),
            confidence=0.9,
        )
