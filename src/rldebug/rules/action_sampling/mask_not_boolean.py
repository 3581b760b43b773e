"""A mask of actions is not of flags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import mask_refused, one_axis, operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MaskNotBoolean(Rule):
    """A mask of actions is not of flags.

    ## What it checks
    `masked_fill` or `where` refused its mask, which is not of dtype bool; or the number it is to fill in does not fit
    half precision.

    ## Why it matters
    Masks come as numbers 0 and 1 from environments and buffers.

    ## Likely causes
    1. The mask is of floats or integers. Confirm: print its dtype.
    2. Which of 0 and 1 means allowed differs between the two places. Confirm: `masked_fill` fills where the mask is
       true.
    3. Under half precision −1e9 is beyond the greatest number. Confirm: print the dtype of the logits.

    ## What to try first
    Write `logits.masked_fill(~mask.bool(), torch.finfo(logits.dtype).min)`, where the mask is true for allowed actions.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `Tensor.masked_fill`; Huang and Ontañón 2022, *A Closer Look at Invalid Action Masking*.
    """

    code: ClassVar[str] = "ACT432"
    name: ClassVar[str] = "mask-not-boolean"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        overflow = evidence.says("value cannot be converted to type (c10|at)::(Half|BFloat16) without overflow")
        return overflow or (mask_refused(evidence) and not one_axis(evidence))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a mask of actions is refused",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a mask of dtype bool, and a filling that the dtype of the logits holds",
            help="write logits.masked_fill(~mask.bool(), torch.finfo(logits.dtype).min), where the mask is true for "
            "allowed actions",
            confidence=0.85,
        )
