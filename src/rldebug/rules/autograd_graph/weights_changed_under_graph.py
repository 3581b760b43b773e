"""Weights are changed in place while gradients are recorded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import calls_of, reaching
from rldebug.syntax.flow import unpacked
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import library, method, receiver
from rldebug.syntax.places import Function, function_of, without_graph

_METHODS = "add_ sub_ mul_ div_ copy_ fill_ zero_ clamp_ lerp_ normal_ uniform_ addcmul_ addcdiv_ pow_ neg_"
_CHANGES = frozenset(_METHODS.split())


@dataclass(frozen=True, kw_only=True)
class WeightsChangedUnderGraph(Rule):
    """Weights are changed in place while gradients are recorded.

    ## What it checks
    `p.mul_(…)`, `p.copy_(…)`, `p -= …` on what `net.parameters()` gives, or on `layer.weight` and `layer.bias`, outside
    of `no_grad()` and not by way of `.data`. Read from the source.

    ## Why it matters
    PyTorch refuses it: "a leaf Variable that requires grad is being used in an in-place operation".

    ## Likely causes
    1. `with torch.no_grad():` is missing around a soft update, or around setting weights. Confirm: read the lines.

    ## What to try first
    `with torch.no_grad():` around the loop.

    ## When it is fine
    For networks with `requires_grad_(False)`; the rule is quiet in files that say so.

    ## References
    PyTorch, *Autograd mechanics*: in-place operations.
    """

    code: ClassVar[str] = "GRA646"
    name: ClassVar[str] = "weights-changed-under-graph"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("GRA404",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        if "requires_grad" in evidence.text or "grad_enabled" in evidence.text:
            return
        for node in ast.walk(evidence.tree):
            weight = _changed(evidence, node)
            if weight is None or without_graph(evidence, node) or not _recorded(evidence, node):
                continue
            yield self.finding(
                f"{evidence.quoted(weight)} is changed in place while gradients are recorded",
                where=evidence.at(node),
                seen=evidence.quoted(node),
                expected="weights changed under torch.no_grad()",
                help="with torch.no_grad(): around it",
                confidence=0.93,
            )


def _changed(source: Source, node: ast.AST) -> ast.expr | None:
    """The weight that a statement writes into."""
    target: ast.expr | None = None
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Expr) and method(node.value) in _CHANGES and not library(source, node.value):
        target = receiver(node.value)
        while isinstance(target, ast.Call) and method(target) in _CHANGES:  # p.mul_(…).add_(…)
            target = receiver(target)
    if isinstance(target, ast.Attribute) and target.attr in ("weight", "bias"):
        return target if kind(source, target.value) == "module" else None
    if isinstance(target, ast.Name):
        places = [each for each in reaching(source, target) if each.how != "augmented"]
        looped = [each for place in places if place.how == "looped" for each in unpacked(source, place)]
        if looped and len(looped) == len(places) and all(method(each) == "parameters" for each in looped):
            return target
    return None


def _recorded(source: Source, node: ast.AST) -> bool:
    """Whether gradients are on where the function is called, as far as this file tells."""
    function = function_of(source, node)
    if not isinstance(function, Function) or function.name == "__init__":
        return True
    known = calls_of(source, function)
    return bool(known) and not any(without_graph(source, each) for each in known)
