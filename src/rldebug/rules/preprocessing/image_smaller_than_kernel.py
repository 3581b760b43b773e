"""An image is smaller than the kernel that runs over it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import fed_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ImageSmallerThanKernel(Rule):
    """An image is smaller than the kernel that runs over it.

    ## What it checks
    A convolution or a pooling refused its input: nothing is left of it.

    ## Why it matters
    The network was made for larger images, or the axes are not where it looks for them.

    ## Likely causes
    1. The channels come last: height and width are then taken from the wrong axes. Confirm: print the shape; it should
       be batch, channels, height, width.
    2. The network is that for frames of 84 × 84, and the environment gives a small grid. Confirm: the same.
    3. Too many layers with strides. Confirm: print the shape behind each.

    ## What to try first
    Print the shape that is fed to the first convolution.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.Conv2d`; Mnih et al. 2015, *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "PRE434"
    name: ClassVar[str] = "image-smaller-than-kernel"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("Kernel size can't be greater than actual input size", "Output size is too small")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an image is smaller than the kernel that runs over it",
            where=evidence.where,
            seen=f"{evidence.said}{fed_told(evidence)}",
            expected="an image larger than the kernel, with its channels in front",
            help="put the channels behind the batch, obs.permute(0, 3, 1, 2); for small images take smaller kernels "
            "and strides",
            confidence=0.85,
        )
