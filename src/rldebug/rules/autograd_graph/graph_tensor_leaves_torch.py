"""A tensor with a graph is turned into data without detaching it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, listed, shown, sized
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GraphTensorLeavesTorch(Rule):
    """A tensor with a graph is turned into data without detaching it.

    ## What it checks
    `numpy()`, `deepcopy()` or sending to another process was asked of a tensor that carries a graph.

    ## Why it matters
    What leaves the graph should do so on purpose: an action for the environment, a state for the buffer.

    ## Likely causes
    1. The policy acts outside of `torch.no_grad()`. Confirm: the tensor is an action or a log-prob.
    2. An object that is copied or sent holds a tensor of the last pass, as a recurrent state. Confirm: detach it there.

    ## What to try first
    Act under `torch.no_grad()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA405"
    name: ClassVar[str] = "graph-tensor-leaves-torch"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Can't call numpy\(\) on Tensor that requires grad",
            "support the deepcopy protocol",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        name, made = str(graph.get("name", "")), graph.get("made")
        parameter = str(graph.get("parameter", ""))
        by = f", computed by {listed(graph['networks'])}" if graph.get("networks") else ""
        line = f", made in {shown(evidence, made)}" if made and not parameter else ""
        who = f"; the tensor is {sized(parameter or name or 'without a name', graph.get('shape'))}{by}{line}"
        copied = evidence.says("deepcopy protocol", "serialize non-leaf tensor")
        kept = copied and "." in name and made is not None
        yield self.finding(
            f"{parameter or name or 'a tensor'} carries a graph and was to become data",
            where=at(evidence, made) if kept else evidence.where,
            seen=f"{evidence.said}{who if graph else operands_told(evidence)}",
            expected="a detached tensor",
            help=_help(evidence, name, copied=copied),
            confidence=0.95,
        )


def _help(crash: Crash, name: str, *, copied: bool) -> str:
    if copied:
        return f"keep {name or 'it'} without its graph: write .detach() where it is stored, before the copy is made"
    if crash.graph.get("parameter"):
        return f"write {name or 'it'}.detach() before .numpy()"
    line = crash.at.expression if crash.at else ""
    before, dot, _ = line.rpartition(".numpy(")
    what = name or (before if dot and len(before) < 60 and before.count("(") == before.count(")") else "it")
    return f"act under torch.no_grad(), or write {what}.detach() before .numpy()"
