"""A parameter is changed in place while gradients are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import sized
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LeafChangedInPlace(Rule):
    """A parameter is changed in place while gradients are recorded.

    ## What it checks
    The program ended with PyTorch's error that a leaf which requires a gradient was changed in place.

    ## Why it matters
    A parameter may be changed by hand only outside of the graph.

    ## Likely causes
    1. A target network is moved by hand, `p += tau * (q - p)`, without `torch.no_grad()`. Confirm: look at the line.
    2. A parameter such as a log-std or a temperature is clamped in place. Confirm: the same.

    ## What to try first
    Put the line under `with torch.no_grad():`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA404"
    name: ClassVar[str] = "leaf-changed-in-place"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"a (view of a )?leaf Variable that requires grad is being used in an in-place")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        name = str(graph.get("parameter") or graph.get("name") or "")
        who = f"; the parameter is {sized(name, graph.get('shape'))}" if name else operands_told(evidence)
        yield self.finding(
            f"{name or 'a parameter'} was changed in place while gradients are recorded",
            where=evidence.where,
            seen=f"{evidence.said}{who}",
            expected="changes by hand under torch.no_grad()",
            help="put this line under with torch.no_grad():, or a decorator @torch.no_grad() on the function",
            confidence=0.95,
        )
