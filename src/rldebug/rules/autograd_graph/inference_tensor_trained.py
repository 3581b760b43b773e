"""Something made under inference_mode() is used in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, shown, sized
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class InferenceTensorTrained(Rule):
    """Something made under inference_mode() is used in training.

    ## What it checks
    The program ended with PyTorch's error that an inference tensor cannot be part of a graph.

    ## Why it matters
    Tensors made under `torch.inference_mode()` can never be part of a graph, also not as data in it.

    ## Likely causes
    1. Collection runs under `inference_mode()`, and what it gives is used in a loss. Confirm: look for it around the
       acting.

    ## What to try first
    Use `torch.no_grad()` for collection.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Inference mode*.
    """

    code: ClassVar[str] = "GRA406"
    name: ClassVar[str] = "inference-tensor-trained"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"[Ii]nference tensors? (cannot be|outside)|Inplace update to inference tensor")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        name, made = str(graph.get("name", "")), graph.get("made")
        who = f"; {sized(name, graph.get('shape'))} was made in {shown(evidence, made)}" if made else ""
        yield self.finding(
            f"{name or 'a tensor'}, made under inference_mode(), is used in training",
            where=at(evidence, made),
            seen=f"{evidence.said}{who or operands_told(evidence)}",
            expected="data made under torch.no_grad()",
            help="replace torch.inference_mode() by torch.no_grad() where data is collected",
            confidence=0.95,
        )
