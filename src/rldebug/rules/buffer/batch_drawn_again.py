"""The same batch is learned from again after new steps were taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, ambiguous, learning
from rldebug.forensics.bootstraps import predictions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BatchDrawnAgain(Rule):
    """The same batch is drawn again after new steps were taken.

    ## What it checks
    Batches of a Q-regression before and after steps of the environment, row by row: they are the same, in the same
    order, again and again. Batches that are small, or of observations that repeat, are left out.

    ## Why it matters
    The network is fitted to a few rows, while all others wait.

    ## Likely causes
    1. A prefetched batch is not replaced, or the sampler is seeded anew in every call. Confirm: print the indices of
       two successive batches.
    2. The batch is drawn outside of the loop. Confirm: look where it is drawn.

    ## What to try first
    Draw the batch inside the loop, from a generator that goes on.

    ## When it is fine
    Several updates on one batch between two steps are a choice, and not counted.

    ## References
    Seen in the wild: BUF-24 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF319"
    name: ClassVar[str] = "batch-drawn-again"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "indices"
    follows: ClassVar[tuple[str, ...]] = ("BUF306",)

    batches: int = 8  # pairs with env steps between them
    share: float = 0.3  # of them that are the same

    def check(self, evidence: Script) -> Iterator[Finding]:
        moves = {(audit.number, term.update) for audit, term in predictions(evidence)}
        trained = {number for number, _ in moves}
        if not moves:
            raise NotEnough("no Q-regression was seen")
        last: dict[tuple[int, str, str], Call] = {}
        pairs = same = 0
        where: Event | None = None
        for call in learning(evidence):
            if call.audit.number not in trained or len(call.rows) < 16 or call.event["match"] == "tag":
                continue
            if ambiguous(call.audit.nodes, call.places).mean() > 0.2:
                continue
            key = (call.audit.number, call.module, str(call.event.get("line")))
            before = last.get(key)
            last[key] = call
            if before is None or before.at == call.at or call.at is None:
                continue
            pairs += 1
            if np.array_equal(before.rows, call.rows):
                same += 1
                where = where or call.event
        if pairs < self.batches:
            raise NotEnough(f"{pairs} pairs of batches with env steps between them")
        if where is not None and same >= self.share * pairs:
            yield self.finding(
                "the same batch is drawn again after new steps were taken",
                where=where.where,
                seen=f"the same rows in the same order in {same} of {pairs} successive batches",
                expected="another batch each time",
                help="draw the batch inside the loop, from a generator that is seeded once",
                confidence=0.95,
            )
