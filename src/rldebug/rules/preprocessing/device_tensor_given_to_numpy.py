"""A tensor of a GPU is given to NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import bound
from rldebug.evidence.crashes.signs import told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DeviceTensorGivenToNumpy(Rule):
    """A tensor of a GPU is given to NumPy.

    ## What it checks
    `.numpy()`, or a function of NumPy, was called with a tensor that does not lie on the CPU.

    ## Why it matters
    NumPy, and with it nearly every environment, works in the memory of the CPU.

    ## Likely causes
    1. The action of the policy goes to the environment as it is. Confirm: print `action.device`.
    2. A loss, a return or a frame is logged or plotted as it is. Confirm: the same.

    ## What to try first
    Write `.detach().cpu().numpy()`; for one number `.item()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.Tensor.cpu`.
    """

    code: ClassVar[str] = "PRE440"
    name: ClassVar[str] = "device-tensor-given-to-numpy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"can't convert \S+ device type tensor to numpy")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        away = [
            (name, fact)
            for name, fact in evidence.operands().items()
            if fact["kind"] == "tensor" and fact["device"] != "cpu"
        ]
        name, fact = away[0] if len(away) == 1 else ("", {})
        origin = bound(evidence, evidence.at, name) if name else None
        came = f", made in {origin.place} by `{origin.text}`" if origin else ""
        graph = ".detach()" if fact.get("ops") else ""
        yield self.finding(
            f"{f'the tensor {name}' if name else 'a tensor of a GPU'} was given to NumPy"
            + (f", and lies on {fact['device']}" if fact else ""),
            where=replace(evidence.where, tensor=name or None),
            seen=f"{name} is {told(fact)}{came}; {evidence.said}" if name else evidence.said,
            expected="a tensor on the CPU",
            help=f"write {name or 'tensor'}{graph}.cpu().numpy(), or .item() for one number",
            confidence=0.95,
        )
