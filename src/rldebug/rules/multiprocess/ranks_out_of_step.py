"""One rank waits for what another never does."""

from __future__ import annotations

import re
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
    A collective operation failed: the other side closed or timed out.

    ## Why it matters
    Every rank has to reach every collective, in the same order.

    ## Likely causes
    1. A barrier or reduction stands under a condition that holds on some ranks only: rank 0, an early stop on the
       KL, an empty batch. Confirm: count the calls on each rank.
    2. Another rank ended with an error. Confirm: read its output first.
    3. One rank has more minibatches, or generates longer, than the timeout allows. Confirm: log each rank's step.

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
            "Watchdog caught collective",
            "wait timeout after",
            "Timed out waiting .*(recv|send|barrier|rank)",
            "Timed out initializing process group|not all ranks joined|Timed out after .* waiting for clients",
        ) or (
            evidence.says("Connection closed by peer", "Connection reset by peer.*gloo", "Socket Timeout")
            and evidence.inside("torch")
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"SeqNum=(\d+), OpType=(\w+)(?:, NumelIn=(\d+))?", evidence.message)
        which = f"; it is collective {found[1]}, {_kind(found[2], found[3])}" if found else ""
        yield self.finding(
            "the ranks are out of step",
            where=evidence.where,
            seen=f"{evidence.said}{which}",
            expected="the same collective calls on every rank",
            help="move the barrier or reduction out of the condition, and decide to stop on all ranks together: "
            "reduce the KL before it is compared",
            confidence=0.85,
        )


def _kind(operation: str, elements: str | None) -> str:
    """One number is a metric or a flag; many are gradients."""
    if elements is None:
        return operation
    return f"{operation} of {'one number: a metric or a flag' if elements == '1' else f'{elements} numbers'}"
