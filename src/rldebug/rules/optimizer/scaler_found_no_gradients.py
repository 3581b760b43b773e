"""The gradient scaler found no gradients to check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ScalerFoundNoGradients(Rule):
    """The gradient scaler found no gradients to check.

    ## What it checks
    `scaler.step(optimizer)` was called, and no parameter of that optimizer had a gradient.

    ## Why it matters
    The scaler looks for infinities in the gradients of the optimizer that it steps.

    ## Likely causes
    1. The loss that was scaled does not reach the parameters of this optimizer: actor and critic are swapped.
       Confirm: list the parameters whose `grad` is None.
    2. `backward()` was not called on `scaler.scale(loss)`, or `zero_grad()` stands between. Confirm: the same.
    3. The update is skipped by a condition, and the step is not. Confirm: the same.

    ## What to try first
    Step each optimizer after the backward of its own loss.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Automatic mixed precision examples*: working with multiple losses and optimizers.
    """

    code: ClassVar[str] = "OPT450"
    name: ClassVar[str] = "scaler-found-no-gradients"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("No inf checks were recorded")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"\.(?:step|unscale_)\(\s*([\w.]+)", evidence.at.source) if evidence.at else None
        name = found[1] if found else "the optimizer"
        losses = [each for each, fact in evidence.operands().items() if fact["kind"] == "tensor"]
        yield self.finding(
            f"no parameter of {name} has a gradient",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {losses[0]}' if losses else ''}",
            expected="scaler.scale(loss).backward() of a loss that reaches its parameters, just before",
            help=f"call scaler.scale(loss).backward() with the loss that trains what {name} holds, after zero_grad() "
            "and before scaler.step()",
            confidence=0.9,
        )
