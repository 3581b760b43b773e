"""An axis is asked for that the tensor does not have."""

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
class AxisMissing(Rule):
    """An axis is asked for that the tensor does not have.

    ## What it checks
    A reduction, an index or a permutation named an axis beyond the last one.

    ## Why it matters
    Most often it is the batch: code that is written for a batch of observations is given one.

    ## Likely causes
    1. One observation is fed without a batch axis. Confirm: print the shape; `obs.unsqueeze(0)` adds it.
    2. An axis was squeezed away where its length is 1: with one environment, one step or one row in the last minibatch.
       Confirm: the same with two.
    3. The axis is counted from 1. Confirm: the same.

    ## What to try first
    Print the shape on the line before; count axes from the end, `dim=-1`, and squeeze only a named axis: `squeeze(-1)`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.unsqueeze`; `torch.squeeze`.
    """

    code: ClassVar[str] = "PRE433"
    name: ClassVar[str] = "axis-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return axis_missing(evidence) and place(evidence) not in ("environment", "policy-loss")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an axis was asked for that is not there",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a tensor with a batch axis",
            help=AXIS_HELP,
            confidence=0.8,
        )
