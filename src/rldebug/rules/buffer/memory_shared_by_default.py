"""A memory that is a default value is shared by all who give none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import attributes, bound_in, class_of_method, default_of, first_parameter, functions
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import Function

_PUTS = "append appendleft extend insert add update push put setdefault"
_FILLS = frozenset(_PUTS.split())


@dataclass(frozen=True, kw_only=True)
class MemorySharedByDefault(Rule):
    """A memory that is a default value is shared by all who give none.

    ## What it checks
    A parameter has `[]`, `{}` or `deque()` as its default, and the function, or the class that keeps it, puts
    things into it. Read from the source.

    ## Why it matters
    The default is made once, when the function is defined. A second agent, or the agent of the next run in the same
    process, begins with the memory of the first, and both write into it.

    ## Likely causes
    1. A default of `None` was meant. Confirm: make two objects and compare their memories with `is`.

    ## What to try first
    `memory=None`, and `self.memory = [] if memory is None else memory`.

    ## When it is fine
    Where it is a cache that is meant to be shared.

    ## References
    Python, *Default parameter values*.
    """

    code: ClassVar[str] = "BUF605"
    name: ClassVar[str] = "memory-shared-by-default"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENV018",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for named in functions(evidence).values():
            for function in named:
                for parameter in [*function.args.args, *function.args.kwonlyargs]:
                    default = default_of(function, parameter.arg)
                    if default is None or not _changeable(evidence, default):
                        continue
                    change = _filled(evidence, function, parameter.arg)
                    if change is not None:
                        name = parameter.arg
                        yield self.finding(
                            f"{name} is one object for all calls without it, and line {change.lineno} fills it",
                            where=evidence.at(default),
                            seen=f"{name}={evidence.quoted(default)}, then {evidence.quoted(change)}",
                            expected=f"{name}=None, and a new one inside",
                            help=f"{name}=None; {name} = {evidence.quoted(default)} if {name} is None else {name}",
                            confidence=0.95,
                        )


def _changeable(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return (library(source, node) or dotted(node.func)) in ("list", "dict", "set", "collections.deque", "deque")
    return isinstance(node, ast.List | ast.Dict | ast.Set)


def _filled(source: Source, function: Function, name: str) -> ast.expr | None:
    """Where something is put into a parameter, or into the attribute that keeps it."""
    if any(each.how != "parameter" for each in bound_in(source, function).get(name, ())):
        return None
    found = next(_fills(function, name), None)
    owner = class_of_method(source, function)
    me = first_parameter(function)
    if found is not None or owner is None:
        return found
    for attribute, places in bound_in(source, function).items():
        keeps = attribute.startswith(f"{me}.") and any(dotted(each.whole or function) == name for each in places)
        every = attributes(source, owner).get(f"self.{attribute.partition('.')[2]}", [])
        if keeps and len(every) == 1:
            return next(_fills(owner, f"self.{attribute.partition('.')[2]}"), None)
    return None


def _fills(around: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(around):
        put = isinstance(node, ast.Call) and method(node) in _FILLS and dotted(receiver(node) or node) == name
        set_ = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and dotted(node.value) == name
        if isinstance(node, ast.expr) and (put or set_):
            yield node
