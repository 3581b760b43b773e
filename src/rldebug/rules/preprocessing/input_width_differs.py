"""The network is fed another width than its first layer takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import (
    channels_misplaced,
    observation_spaces,
    operands_told,
    sizes_told,
    told,
    width_refused,
)
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class InputWidthDiffers(Rule):
    """The network is fed another width than its first layer takes.

    ## What it checks
    The first layer of a network refused the shape of its input.

    ## Why it matters
    What the preprocessing gives is not what the network was made for.

    ## Likely causes
    1. The observation is not flattened, or has no batch axis, or one too many. Confirm: print its shape beside
       `env.observation_space.shape`.
    2. Frames are stacked, or parts are added or left out, in only one of the two places. Confirm: the same.
    3. The tensor is transposed. Confirm: the same.

    ## What to try first
    Print the shape of what is fed to the network, and of `env.observation_space`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.Linear`.
    """

    code: ClassVar[str] = "PRE401"
    name: ClassVar[str] = "input-width-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return width_refused(evidence) == "preprocessing" and not channels_misplaced(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        layer = evidence.layer or {}
        fed = f"; fed with {told(layer['input'])}{sizes_told(evidence)}" if layer else operands_told(evidence)
        spaces = observation_spaces(evidence)
        declared = f"; the space says that observations are {tuple(spaces[0])}" if spaces else ""
        yield self.finding(
            "the network was fed another width than its first layer takes",
            where=evidence.where,
            seen=f"{evidence.said}{fed}{declared}",
            expected=f"{layer['weight']['shape'][-1]} numbers in the last axis"
            if layer.get("weight")
            else "shapes that fit",
            help="print the shape that is fed: flatten each observation to one row, and keep the batch axis first",
            confidence=0.8,
        )
