"""Some next observations are older than the observations beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.bootstraps import by_prediction, without_gradient
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NextObservationFromThePast(Rule):
    """Some next observations are older than those they follow.

    ## What it checks
    Rows of a Q-regression, and the observations their targets are bootstrapped from, are traced back to their
    environment steps. Most follow as they should, and some lie before the observation they belong to. Exact.

    ## Why it matters
    Those targets join the newest step with the oldest in the buffer: a transition that never was.

    ## Likely causes
    1. The next observation is read at index + 1, or + n, and the index may be at the write position of a full ring.
       Confirm: draw the row just before the write position.
    2. A window of several steps runs over the write position. Confirm: the same.

    ## What to try first
    Do not draw indices whose window holds the write position; or store next observations themselves.

    ## When it is fine
    Nothing that is known of.

    ## References
    Seen in the wild: BUF-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF317"
    name: ClassVar[str] = "next-observation-from-the-past"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"
    follows: ClassVar[tuple[str, ...]] = ("BUF302", "BUF303", "BUF306")

    rows: int = 3  # that lie in the past, over at least two audits
    later: float = 0.7  # share of rows that follow as they should

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = past = total = 0
        audits: set[int] = set()
        where: Event | None = None
        for _, pairs in by_prediction(evidence):
            others = [each for each in pairs if without_gradient(evidence, each.call) and each.later >= self.later]
            if not others:
                continue
            pair, nodes = others[0], others[0].audit.nodes
            judged += 1
            s, t = pair.predicted[pair.sure], pair.called[pair.sure]
            own = (nodes.stream[s] == nodes.stream[t]) & (nodes.lane[s] == nodes.lane[t])
            wrong = int((own & (nodes.call[t] < nodes.call[s])).sum())
            total += len(s)
            past += wrong
            if wrong:
                audits.add(pair.audit.number)
                where = where or pair.call.event
        if not judged:
            raise NotEnough("no batch of a Q-regression could be traced to the environment")
        if where is not None and past >= self.rows and len(audits) > 1:
            yield self.finding(
                "some next observations are older than the observations beside them",
                where=where.where,
                seen=f"{past} of {total} rows are bootstrapped from an observation that came before",
                expected="an observation that the step led to",
                help="leave out rows whose next observation lies beyond the write position of the ring",
                confidence=0.93,
            )
