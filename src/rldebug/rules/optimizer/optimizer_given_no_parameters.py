"""An optimizer is made for something that cannot be trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OptimizerGivenNoParameters(Rule):
    """An optimizer is made for something that cannot be trained.

    ## What it checks
    The constructor of an optimizer was given no parameters, or a tensor that is not a leaf.

    ## Why it matters
    It would never change anything.

    ## Likely causes
    1. Layers are kept in a Python list or dict, where `parameters()` does not find them. Confirm:
       `list(net.parameters())`; `nn.ModuleList` is found.
    2. The parameters are made after the optimizer. Confirm: look at the order.
    3. A tensor was moved or transformed after it was told to require a gradient: `torch.zeros(1,
       requires_grad=True).to(device)`. Confirm: its `is_leaf` is False.
    4. `parameters()` was used up: it is a generator, and gives nothing the second time. Confirm: make a list of it.

    ## What to try first
    Print `sum(p.numel() for p in net.parameters())` before the optimizer is made.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.optim`: constructing it; `torch.nn.ModuleList`.
    """

    code: ClassVar[str] = "OPT402"
    name: ClassVar[str] = "optimizer-given-no-parameters"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "optimizer got an empty parameter list",
            "can't optimize a non-leaf Tensor",
            "optimizer can only optimize Tensors",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an optimizer was given nothing that it can train",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="the parameters of a network, or leaves that require a gradient",
            help="keep layers in nn.ModuleList, and make a lone parameter on its device before it requires a gradient",
            confidence=0.95,
        )
