"""Softmax is taken without saying over which axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SoftmaxWithoutAxis(Rule):
    """Softmax is taken without saying over which axis.

    ## What it checks
    PyTorch warned that `softmax`, `log_softmax` or `softmin` was called without `dim`.

    ## Why it matters
    PyTorch then chooses by the number of axes: for 3 axes, and for 1, the first. Probabilities that are normalised over
    the batch or the steps still look like probabilities.

    ## Likely causes
    1. `F.softmax(x)` or `nn.Softmax()` without `dim`. Confirm: the sum over the actions of one row is not 1.

    ## What to try first
    Write `dim=-1`, the axis of the actions.

    ## When it is fine
    When the input always has two axes: then the last is meant.

    ## References
    PyTorch, `torch.nn.functional.softmax`.
    """

    code: ClassVar[str] = "ACT431"
    name: ClassVar[str] = "softmax-without-axis"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("Implicit dimension choice for (log_)?soft(max|min) has been deprecated")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "softmax was taken without saying over which axis",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="dim=-1, the axis of the actions",
            help="write dim=-1: without it the axis depends on the number of axes, and may be that of the batch or "
            "the steps",
            confidence=0.9,
        )
