"""A network with dropout or batch norm acts in training mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import asked, network
from rldebug.syntax.flow import meant
from rldebug.syntax.kinds import module_class
from rldebug.syntax.names import library, method
from rldebug.syntax.places import calls
from rldebug.syntax.stepping import steps


@dataclass(frozen=True, kw_only=True)
class NeverInEvaluationMode(Rule):
    """A network with dropout or batch norm acts in training mode.

    ## What it checks
    The action that an environment gets is computed by a network that has a Dropout or BatchNorm layer, and no line
    of the file, or of those of its program, calls `eval()` or `train(False)`. Read from the source.

    ## Why it matters
    While acting, dropout switches units off at random, and batch normalisation takes the statistics of a single
    observation and mixes them into its running ones. The policy that plays is not the one that was trained.

    ## Likely causes
    1. `net.eval()` before acting and `net.train()` before the update are missing. Confirm: ask the network twice
       for one observation.

    ## What to try first
    `net.eval()` while acting and evaluating; `net.train()` for updates.

    ## When it is fine
    Where dropout is the exploration, or a library switches the mode.

    ## References
    PyTorch, *Module.eval*.
    """

    code: ClassVar[str] = "EVA603"
    name: ClassVar[str] = "never-in-evaluation-mode"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("EVA302",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        if any(_switches(call) for call in calls(evidence)):
            return
        told: set[ast.expr] = set()
        for step in steps(evidence):
            if step.action is None:
                continue
            for call in asked(evidence, step.action):
                net = network(evidence, call)
                layer = _mode_matters(evidence, net) if net is not None else None
                if net is not None and layer is not None and call not in told:
                    if any(_switches(other) for each in evidence.beside for other in calls(each)):
                        return
                    told.add(call)
                    name = evidence.quoted(net)
                    yield self.finding(
                        f"{name} acts in training mode: its {layer} changes what it does",
                        where=evidence.at(call),
                        seen=f"{evidence.quoted(call)} decides the action, and nothing in the program calls eval()",
                        expected=f"{name}.eval() before acting",
                        help=f"{name}.eval() before acting, {name}.train() before the update",
                        confidence=0.8,
                    )


def _switches(call: ast.Call) -> bool:
    return method(call) == "eval" or (method(call) == "train" and bool(call.args or call.keywords))


def _mode_matters(source: Source, net: ast.expr) -> str | None:
    """The kind of layer in a network that behaves otherwise in training."""
    owner = module_class(source, net)
    made = meant(source, net)
    inside = [each for each in ast.walk(owner or made) if isinstance(each, ast.Call)]
    names = [library(source, each) for each in inside]
    found = [each.rpartition(".")[2] for each in names if each.startswith(("torch.nn.Dropout", "torch.nn.BatchNorm"))]
    return found[0] if found else None
