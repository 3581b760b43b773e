"""The gradient scaler is called out of order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ScalerOutOfOrder(Rule):
    """The gradient scaler is called out of order.

    ## What it checks
    `unscale_`, `step` and `update` of a gradient scaler were called twice, or in another order.

    ## Why it matters
    For each optimizer: scale and backward, unscale, clip, step; then one update for all.

    ## Likely causes
    1. `scaler.unscale_` is called twice: for clipping, and inside a helper. Confirm: the line that is named.
    2. `scaler.update()` is missing after the last `step`, as with an early `continue`. Confirm: look at the loop.
    3. `scaler.update()` is called where nothing was scaled. Confirm: the same.

    ## What to try first
    Write `unscale_`, clip, `step`, and one `update()` at the end.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Automatic mixed precision examples*.
    """

    code: ClassVar[str] = "OPT451"
    name: ClassVar[str] = "scaler-out-of-order"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"unscale_\(\) has already been called",
            r"unscale_\(\) is being called after step",
            r"step\(\) has already been called since the last update",
            "Attempted \\w+ but _scale is None",
            "Attempting to unscale FP16 gradients",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        again = evidence.says("already been called|after step")
        half = evidence.says("Attempting to unscale FP16")
        advice = "scale the loss in every update before scaler.step() and scaler.update()"
        if half:
            advice = (
                "keep the parameters in float32, and use autocast for the forward: a scaler is not for .half() weights"
            )
        elif again:
            advice = "call scaler.unscale_(optimizer) once and scaler.step(optimizer) once, and scaler.update() "
            advice += "after them, in every iteration, also where the rest is skipped"
        yield self.finding(
            "the gradient scaler was called out of order",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.source if evidence.at else ''}`",
            expected="scale, backward, unscale_, clip, step, and one update",
            help=advice,
            confidence=0.95,
        )
