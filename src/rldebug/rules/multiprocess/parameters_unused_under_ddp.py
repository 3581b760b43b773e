"""Parameters under DDP take no part in a loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ParametersUnusedUnderDdp(Rule):
    """Parameters under DDP take no part in a loss.

    ## What it checks
    `DistributedDataParallel` found that not every parameter got a gradient, or that one got it twice, when the next
    pass began.

    ## Why it matters
    DDP reduces the gradients once all are there. A head that the loss does not use is waited for.

    ## Likely causes
    1. Actor and critic share one DDP module, and each loss uses one head. Confirm: the parameters that are named.
    2. The module is called several times before one `backward()`. Confirm: count its calls in an update.
    3. What the module returns is used without its DDP wrapper, as by `model.module.value()`. Confirm: the same.

    ## What to try first
    Add the losses and call `backward()` once.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `DistributedDataParallel`: `find_unused_parameters`.
    """

    code: ClassVar[str] = "MPR455"
    name: ClassVar[str] = "parameters-unused-under-ddp"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("finished reduction in the prior iteration", "mark a variable ready only once")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        left = evidence.between.get("left_out", [])
        named = f"; without a gradient: {', '.join(left[:6])}{', …' if len(left) > 6 else ''}" if left else ""
        part = (left[0].rpartition(".")[0] or left[0]) if left else "a part of the model"
        twice = evidence.says("mark a variable ready only once")
        yield self.finding(
            "a parameter under DDP got its gradient twice in one pass"
            if twice
            else f"{part} takes no part in the loss under DDP",
            where=evidence.where,
            seen=f"{evidence.said[:150]}{named}",
            expected="one forward and one backward() of the wrapped module, with all of its parameters in the loss",
            help="compute every loss from one forward, add them, and call backward() once; else "
            + (
                "static_graph=True or no_sync()" if twice else "DistributedDataParallel(…, find_unused_parameters=True)"
            ),
            confidence=0.9,
        )
