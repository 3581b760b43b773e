"""An image reaches a convolution with its channels elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import channels_misplaced, operands_told, told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ChannelsMisplaced(Rule):
    """An image reaches a convolution with its channels elsewhere.

    ## What it checks
    A convolution refused its input: the axis where it expects the channels has another length, or there is an axis too
    few.

    ## Why it matters
    Environments give images with the channels last; PyTorch takes them first.

    ## Likely causes
    1. The axes are not permuted. Confirm: print the shape; `obs.permute(0, 3, 1, 2)` puts the channels first.
    2. The batch axis or the channel axis of a grey image is missing. Confirm: the same.
    3. More or fewer frames are stacked than the first layer was made for. Confirm: the same.

    ## What to try first
    Print the shape that is fed to the first convolution: it should be batch, channels, height, width.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.Conv2d`.
    """

    code: ClassVar[str] = "PRE404"
    name: ClassVar[str] = "channels-misplaced"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return channels_misplaced(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        layer = evidence.layer or {}
        fed = f"; fed with {told(layer['input'])}" if layer else operands_told(evidence)
        yield self.finding(
            "a convolution found another number of channels than it was made for",
            where=evidence.where,
            seen=f"{evidence.said}{fed}",
            expected="batch, channels, height, width",
            help="permute the axes so that the channels come behind the batch: obs.permute(0, 3, 1, 2)",
            confidence=0.85,
        )
