"""Parameters that no loss leads to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph, Parameter
from rldebug.evidence.tensors import listed
from rldebug.finding import Finding, Severity, thousands
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ParameterNotReached(Rule):
    """No loss leads to a part of a network whose rest is trained.

    ## What it checks
    The graphs of all losses that were handed over, or of one update: parameters of a module that require a gradient,
    and that no graph ends in, while it does end in others of the same module. A warning where an optimizer holds them,
    or where no optimizers were given; a module that nothing leads to as a whole is a note: its loss may be elsewhere.

    ## Why it matters
    Their gradient stays None, so that every step passes them over. A log-std, a head or an encoder stays what it was
    at the start, and no curve says so.

    ## Likely causes
    1. The output is detached, or goes through `.item()`, `.data`, numpy or `torch.no_grad()` before the loss. Confirm:
       the box is red in the picture, and the one above it is not.
    2. A term is computed, perhaps logged, and not added to the loss. Confirm: hand that term over too, by name.
    3. The layer is made in `__init__` and not used in `forward`. Confirm: search for its name.

    ## What to try first
    `rldebug.graph(loss).save("graph.svg")`: red boxes are those that nothing leads to.

    ## When it is fine
    A head that this algorithm does not use, such as a value head under plain REINFORCE: freeze it with
    `requires_grad_(False)`.

    ## References
    PyTorch, *Autograd mechanics*. PyTorch, `torch.optim.Optimizer.step` (parameters whose gradient is None are
    skipped).
    """

    code: ClassVar[str] = "GRA800"
    name: ClassVar[str] = "parameter-not-reached"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Graph"
    follows: ClassVar[tuple[str, ...]] = (
        "GRA003",
        "GRA009",
        "GRA301",
        "GRA302",
        "OPT318",
        "NET304",
        "VAL391",
        "GRA801",
    )

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.losses)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        if evidence.bounded:
            return
        for module in evidence.modules:
            able = [each for each in evidence.of(module) if each.trainable]
            missed = [each for each in able if not each.losses]
            held = [each for each in missed if each.optimizers]
            if not missed or (evidence.optimizers and not held):
                continue
            if evidence.optimizers:
                missed = held
            if len(missed) == len(able):
                yield self._report(evidence, module, able, missed, "note", 0.6)
            else:
                yield self._report(evidence, module, able, missed, "warning", 0.85)

    def _report(
        self,
        graph: Graph,
        module: str,
        able: list[Parameter],
        missed: list[Parameter],
        severity: Severity,
        confidence: float,
    ) -> Finding:
        names = [each.name for each in missed]
        losses = " and ".join(each.name for each in graph.losses)
        count, of = sum(each.numel for each in missed), sum(each.numel for each in able)
        holder = f"; optimizer {missed[0].optimizers[0]} holds them" if missed[0].optimizers else ""
        return self.finding(
            f"no loss leads to {'a part of ' if len(missed) < len(able) else ''}{module}",
            where=graph.where(tensor=names[0]),
            seen=f"the graph of {losses} ends in none of {listed(names)} ({thousands(count)} of {thousands(of)} "
            f"weights of {module}){holder}",
            expected=f"a loss that leads to every trained parameter of {module}",
            help=f"look for detach(), .data, numpy or no_grad() between {missed[0].unit} and the loss"
            if len(missed) < len(able)
            else f"hand over the loss of {module} too, or add it to what backward() is called on",
            severity=severity,
            confidence=confidence,
        )
