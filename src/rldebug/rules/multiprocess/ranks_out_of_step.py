"""One rank waits for what another never does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RanksOutOfStep(Rule):
    """One rank waits for what another never does.

    ## What it checks
    A collective operation failed: the other side closed, timed out, or had not finished what came before.

    ## Why it matters
    Every rank has to reach every collective, in the same order.

    ## Likely causes
    1. A barrier or reduction stands under a condition that holds on some ranks only: rank 0, early stopping, an empty
       batch. Confirm: count the calls on each rank.
    2. Another rank ended with an error. Confirm: read its output first.
    3. Some parameters take no part in the loss under DDP. Confirm: `find_unused_parameters=True` names them.

    ## What to try first
    Count the collective calls of each rank, and print them at the end.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Distributed communication package*.
    """

    code: ClassVar[str] = "MPR403"
    name: ClassVar[str] = "ranks-out-of-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "Connection closed by peer",
            "Connection reset by peer.*gloo",
            "Watchdog caught collective",
            "Timed out waiting .*(recv|send|barrier|rank)",
            "finished reduction in the prior iteration",
            "Socket Timeout",
            "wait timeout after",
        ) and evidence.inside("torch")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the ranks are out of step",
            where=evidence.where,
            seen=evidence.said,
            expected="the same collective calls on every rank",
            help="move the barrier or reduction out of the condition, and decide to stop on all ranks together",
            confidence=0.8,
        )
