"""A network gets its layers before `super().__init__()`, or without it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes, first_parameter
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import dotted, method, receiver, resolved
from rldebug.syntax.places import before, own_nodes


@dataclass(frozen=True, kw_only=True)
class ModuleNotInitialised(Rule):
    """A network gets its layers before `super().__init__()`, or without it.

    ## What it checks
    In `__init__` of a class that inherits from `nn.Module`, a layer or a parameter is bound to `self` before
    `super().__init__()` is called, or that call is missing. Read from the source.

    ## Why it matters
    PyTorch refuses it: "cannot assign module before Module.__init__() call". A layer can only be registered where there
    is something to register it in.

    ## Likely causes
    1. The line is missing, or too far down. Confirm: read `__init__`.

    ## What to try first
    `super().__init__()` as the first line.

    ## When it is fine
    Nothing that is known of.

    ## References
    PyTorch, *torch.nn.Module*.
    """

    code: ClassVar[str] = "NET642"
    name: ClassVar[str] = "module-not-initialised"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NET406",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for owner in classes(evidence).values():
            if [resolved(evidence, base) for base in owner.bases] != ["torch.nn.Module"]:
                continue
            for start in (each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"):
                first = next(_layers(evidence, start), None)
                made = _initialised(evidence, start)
                if first is None or (made is not None and before(made, first)):
                    continue
                late = f"only on line {made.lineno}" if made is not None else "never called"
                yield self.finding(
                    f"a layer of {owner.name} comes before super().__init__(), which is {late}",
                    where=evidence.at(first),
                    seen=evidence.quoted(first),
                    expected="super().__init__() as the first line of __init__",
                    help="super().__init__() above this line",
                    confidence=0.96,
                )


def _layers(source: Source, start: ast.FunctionDef) -> Iterator[ast.Assign]:
    me = first_parameter(start)
    for node in own_nodes(start):
        names = [dotted(each) for each in node.targets] if isinstance(node, ast.Assign) else []
        mine = any(name.startswith(f"{me}.") for name in names)
        if isinstance(node, ast.Assign) and mine and kind(source, node.value) in ("module", "parameter"):
            yield node


def _initialised(source: Source, start: ast.FunctionDef) -> ast.Call | None:
    """`super().__init__()`, `nn.Module.__init__(self)`, or another method of `super()` or `self` that may do it."""
    me = first_parameter(start)
    for node in own_nodes(start):
        if not isinstance(node, ast.Call):
            continue
        on = receiver(node)
        if method(node) == "__init__":
            return node
        if on is not None and (dotted(on) == me or (isinstance(on, ast.Call) and dotted(on.func) == "super")):
            return node
    return None
