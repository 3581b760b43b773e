"""Batch normalisation is asked for the variance of one row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BatchNormOfOneRow(Rule):
    """Batch normalisation is asked for the variance of one row.

    ## What it checks
    The program ended with PyTorch's error that a layer in training mode was given a single value for each channel.

    ## Why it matters
    The statistics of one row are meaningless; in training mode they are also what the layer learns.

    ## Likely causes
    1. The network acts on one observation while in training mode. Confirm: `net.training` where it acts.
    2. The last minibatch holds one sample. Confirm: print the sizes of the minibatches.

    ## What to try first
    Call `net.eval()` before acting and `net.train()` before the update; or use `LayerNorm`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Ioffe and Szegedy 2015, *Batch Normalization*.
    """

    code: ClassVar[str] = "NET403"
    name: ClassVar[str] = "batch-norm-of-one-row"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "Expected more than 1 (value|spatial element) per channel|Expected more than 1 spatial element"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "batch normalisation was given one row in training mode",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="evaluation mode while acting, and minibatches of more than one row",
            help="call net.eval() before acting and net.train() before the update, or use LayerNorm",
            confidence=0.95,
        )
