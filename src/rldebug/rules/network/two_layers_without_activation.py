"""Two linear layers follow each other with nothing in between."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes
from rldebug.syntax.flow import meant
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.layers import layer
from rldebug.syntax.names import argument, constant, library
from rldebug.syntax.numbers import number
from rldebug.syntax.places import Function, calls, calls_in


@dataclass(frozen=True, kw_only=True)
class TwoLayersWithoutActivation(Rule):
    """Two linear layers follow each other with nothing in between.

    ## What it checks
    `nn.Linear(…), nn.Linear(…)` side by side in an `nn.Sequential`, or one given the other's output in a method of a
    network. Quiet where the first has no bias or is narrower than both its neighbours: a factorised matrix. Read from
    the source.

    ## Why it matters
    Two linear maps are one linear map: the layer adds weights and no ability. A policy or a value that is linear in the
    observation fails where the task is not.

    ## Likely causes
    1. The activation was forgotten. Confirm: read the line.

    ## What to try first
    `nn.Tanh()` or `nn.ReLU()` in between.

    ## When it is fine
    Where an embedding is projected to another width on purpose.

    ## References
    Goodfellow, Bengio & Courville, *Deep Learning*, 6.1.
    """

    code: ClassVar[str] = "NET646"
    name: ClassVar[str] = "two-layers-without-activation"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for first, second, where in (*_in_sequences(evidence), *_in_methods(evidence)):
            if _factorised(evidence, first, second):
                continue
            yield self.finding(
                "two linear layers follow each other with no activation in between",
                where=evidence.at(where),
                seen=f"{evidence.quoted(first)}, then {evidence.quoted(second)}",
                expected="an activation between two layers",
                help="nn.Tanh() or nn.ReLU() in between",
                confidence=0.8,
            )


def _in_sequences(source: Source) -> Iterator[tuple[ast.Call, ast.Call, ast.expr]]:
    for call in calls(source):
        if library(source, call) == "torch.nn.Sequential":
            for first, second in zip(call.args, call.args[1:], strict=False):
                linear = layer(source, first) == layer(source, second) == "Linear"
                if linear and isinstance(first, ast.Call) and isinstance(second, ast.Call):
                    yield first, second, second


def _in_methods(source: Source) -> Iterator[tuple[ast.Call, ast.Call, ast.expr]]:
    """`self.two(self.one(x))`, also in two lines."""
    for owner in classes(source).values():
        if class_kind(source, owner) != "module":
            continue
        for function in (each for each in owner.body if isinstance(each, Function)):
            for call in calls_in(function):
                second = _linear(source, call.func)
                given = meant(source, call.args[0]) if second is not None and len(call.args) == 1 else None
                first = _linear(source, given.func) if isinstance(given, ast.Call) else None
                if first is not None and second is not None and first is not second:
                    yield first, second, call


def _linear(source: Source, node: ast.expr) -> ast.Call | None:
    made = meant(source, node) if isinstance(node, ast.Attribute) else None
    return made if isinstance(made, ast.Call) and library(source, made) == "torch.nn.Linear" else None


def _factorised(source: Source, first: ast.Call, second: ast.Call) -> bool:
    """A wide matrix written as a product of two narrow ones."""
    if constant(argument(first, 2, "bias")) is False:
        return True
    sizes = [argument(first, 0, "in_features"), argument(first, 1, "out_features"), argument(second, 1, "out_features")]
    before, inner, behind = (number(source, each) for each in sizes)
    return inner is not None and before is not None and behind is not None and inner < min(before, behind)
