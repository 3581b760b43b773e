"""The output of a compiled network was overwritten by its next call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CompiledOutputOverwritten(Rule):
    """The output of a compiled network was overwritten by its next call.

    ## What it checks
    A tensor of an earlier call of a network with CUDA graphs was read after a later one.

    ## Why it matters
    With CUDA graphs each call writes to the same memory. A value kept from the last step is gone.

    ## Likely causes
    1. `mode="reduce-overhead"` or max-autotune compiles the policy, and its values are kept in the rollout as
       they are. Confirm: clone them.
    2. The target network or a second forward runs before the first result is used. Confirm: the same.

    ## What to try first
    Clone what is kept: `value = net(obs).clone()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *CUDAGraph Trees*.
    """

    code: ClassVar[str] = "PRF450"
    name: ClassVar[str] = "compiled-output-overwritten"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "tensor output of CUDAGraphs that has been overwritten", "static input data pointer changed"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a compiled network has overwritten what it gave before",
            where=evidence.where,
            seen=f"{evidence.said[:150]}{operands_told(evidence)}",
            expected="a copy of each output that is kept",
            help="keep net(obs).clone() in the rollout, call torch.compiler.cudagraph_mark_step_begin() before each "
            'call, or compile without mode="reduce-overhead"',
            confidence=0.95,
        )
