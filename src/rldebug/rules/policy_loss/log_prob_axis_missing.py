"""A log-prob has no such axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import AXIS_HELP, axis_missing, operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LogProbAxisMissing(Rule):
    """A log-prob has no such axis.

    ## What it checks
    A sum, a mean or an index over an axis failed where a log-prob with a graph is used: there are fewer axes.

    ## Why it matters
    Whether log-probs have an axis for the parts of an action depends on the distribution, and on the shape of the
    network's output.

    ## Likely causes
    1. The log-prob of a discrete action is already one number for each row, and is summed once more. Confirm: print its
       shape.
    2. The value or log-prob was squeezed without naming an axis, and the batch of one row went with it. Confirm: the
       same with two rows.
    3. One observation is used without a batch axis. Confirm: the same.

    ## What to try first
    Print the shape on the line before; for actions of several numbers use `Independent(dist, 1)`, whose log-prob is
    summed.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.distributions.Independent`.
    """

    code: ClassVar[str] = "POL431"
    name: ClassVar[str] = "log-prob-axis-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return axis_missing(evidence) and place(evidence) == "policy-loss"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a log-prob has no such axis",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="log-probs of the shape (batch,), summed over the parts of an action",
            help=AXIS_HELP,
            confidence=0.75,
        )
