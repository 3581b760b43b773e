"""A layer with weights is made anew at every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.layers import RANDOM, SCALING
from rldebug.syntax.names import dotted, library, method
from rldebug.syntax.places import Function, above, calls_in, own_nodes, scope_of

_KEEPS = ("append", "insert", "extend", "add_module", "register_module", "setdefault")


@dataclass(frozen=True, kw_only=True)
class LayerMadeInForward(Rule):
    """A layer with weights is made anew at every call.

    ## What it checks
    `nn.Linear(…)`, a convolution, a recurrent or normalising layer, or an embedding is constructed in `forward()` of a
    network without being kept in `self`, or constructed and called at once (`nn.Linear(3, 4)(x)`) in another of its
    methods. Read from the source.

    ## Why it matters
    Its weights are random numbers that change at every call and are never trained; those of a normalising layer are
    ones and zeros for good, and its running statistics begin anew.

    ## Likely causes
    1. The layer belongs in `__init__`. Confirm: read the line.

    ## What to try first
    Make it in `__init__`, call it in `forward`.

    ## When it is fine
    Where fixed random features are meant; then make them once.

    ## References
    PyTorch, *Build the neural network*.
    """

    code: ClassVar[str] = "NET641"
    name: ClassVar[str] = "layer-made-in-forward"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for owner in classes(evidence).values():
            if class_kind(evidence, owner) != "module":
                continue
            for function in (each for each in owner.body if isinstance(each, Function) and each.name != "__init__"):
                for call in calls_in(function):
                    made = library(evidence, call).removeprefix("torch.nn.")
                    if made not in RANDOM | SCALING:
                        continue
                    lost = not _kept(evidence, call) if function.name == "forward" else _called_at_once(evidence, call)
                    if not lost:
                        continue
                    what = "its weights are random and never trained" if made in RANDOM else "it is never trained"
                    yield self.finding(
                        f"nn.{made} is made anew at every call: {what}",
                        where=evidence.at(call),
                        seen=f"{evidence.quoted(call)} in {owner.name}.{function.name}",
                        expected="layers made once, in __init__",
                        help=f"self.layer = {evidence.quoted(call)} in __init__",
                        confidence=0.93 if made in RANDOM else 0.8,
                    )


def _called_at_once(source: Source, call: ast.Call) -> bool:
    """`nn.Linear(3, 4)(x)`, also with `.to(device)` in between."""
    outer: ast.AST = call
    for each in above(source, call):
        if isinstance(each, ast.Call) and each.func is outer and not isinstance(outer, ast.Attribute):
            return True
        if not isinstance(each, ast.Attribute) and not (isinstance(each, ast.Call) and each.func is outer):
            return False
        outer = each
    return False


def _kept(source: Source, call: ast.Call) -> bool:
    """Whether it is bound to an attribute or put into something: made at the first call, and kept."""
    for each in above(source, call):
        if isinstance(each, ast.Call) and (method(each) in _KEEPS or dotted(each.func) == "setattr"):
            return True
        if isinstance(each, ast.stmt):
            targets = each.targets if isinstance(each, ast.Assign) else []
            names = {dotted(target) for target in targets if isinstance(target, ast.Name)}
            return len(names) < len(targets) or (isinstance(each, ast.Assign) and _passed_on(source, each, names))
    return False


def _passed_on(source: Source, made: ast.Assign, names: set[str]) -> bool:
    """Whether the name that a layer got is then bound to an attribute: `self.head = head`."""
    later = (each for each in own_nodes(scope_of(source, made)) if isinstance(each, ast.Assign) and each is not made)
    return any(
        dotted(each.value) in names and any(not isinstance(target, ast.Name) for target in each.targets)
        for each in later
    )
