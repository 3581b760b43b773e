"""One and the same list stands in every place of a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import held
from rldebug.syntax.made_envs import length
from rldebug.syntax.names import argument, constant, dotted, library, method, receiver
from rldebug.syntax.places import calls, class_of, parents, scope_of

_PUTS = "append appendleft extend insert add update push put clear pop popleft"
_CHANGES = frozenset(_PUTS.split())
_ARRAYS = {f"{package}.{name}" for package in ("numpy", "torch") for name in ("zeros", "ones", "empty", "full")}
_CHANGEABLE = frozenset({"list", "dict", "set", "collections.deque", "collections.defaultdict"}) | _ARRAYS


@dataclass(frozen=True, kw_only=True)
class OneListInEveryPlace(Rule):
    """One and the same list stands in every place of a list.

    ## What it checks
    `[[]] * n` (also of deques, dictionaries and arrays), where later something is appended or written to single
    places of it. Read from the source.

    ## Why it matters
    There is only one inner list. What one environment or one agent stores lands in the memory of all of them, so
    that trajectories are mixed.

    ## Likely causes
    1. `[[] for _ in range(n)]` was meant. Confirm: `x[0] is x[1]`.

    ## What to try first
    `[[] for _ in range(n)]`.

    ## When it is fine
    Where the inner lists are only replaced (`x[i] = …`), which is not reported.

    ## References
    Python FAQ, *How do I create a multidimensional list?*
    """

    code: ClassVar[str] = "BUF603"
    name: ClassVar[str] = "one-list-in-every-place"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("BUF306",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        yield from self._of_keys(evidence)
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
                continue
            inner, times = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
            if not (isinstance(inner, ast.List) and len(inner.elts) == 1 and _changeable(evidence, inner.elts[0])):
                continue
            if names := _names_for_one(evidence, node):
                yield self.finding(
                    f"{', '.join(names)} are one and the same object: what is put into one is in all of them",
                    where=evidence.at(node),
                    seen=evidence.quoted(node),
                    expected="an object of its own for each name",
                    help=", ".join([evidence.quoted(inner.elts[0])] * len(names)),
                    confidence=0.95,
                )
                continue
            name = _bound_to(evidence, node)
            changed = _changed_inside(evidence, node, name) if name and constant(times) != 1 else None
            if changed is not None:
                one = ast.get_source_segment(evidence.text, inner.elts[0])
                many = ast.get_source_segment(evidence.text, times)
                plain = isinstance(times, ast.Name | ast.Attribute | ast.Constant) or dotted(times)
                yield self.finding(
                    f"all places of {name} hold one and the same object: line {changed.lineno} changes all of them",
                    where=evidence.at(node),
                    seen=f"{evidence.quoted(node)}, then {evidence.quoted(changed)}",
                    expected="an object of its own in each place",
                    help=f"[{one} for _ in range({many})]",
                    confidence=0.97,
                    edits=(evidence.replaced(node, f"[{one} for _ in range({many})]"),) if plain else (),
                )

    def _of_keys(self, evidence: Source) -> Iterator[Finding]:
        """`dict.fromkeys(names, [])`."""
        for node in calls(evidence):
            value = argument(node, 1, "value") if dotted(node.func) == "dict.fromkeys" else None
            name = _bound_to(evidence, node) if value is not None and _changeable(evidence, value) else ""
            changed = _changed_inside(evidence, node, name) if name and length(evidence, node.args[0]) != 1 else None
            if changed is not None and value is not None:
                yield self.finding(
                    f"all keys of {name} hold one and the same object: line {changed.lineno} changes all of them",
                    where=evidence.at(node),
                    seen=f"{evidence.quoted(node)}, then {evidence.quoted(changed)}",
                    expected="an object of its own for each key",
                    help=f"{{key: {evidence.quoted(value)} for key in {evidence.quoted(node.args[0])}}}",
                    confidence=0.97,
                )


def _names_for_one(source: Source, node: ast.expr) -> list[str]:
    """`a, b = [[]] * 2`: the names, where two of them are read."""
    parent = parents(source).get(node)
    if not (isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple | ast.List)):
        return []
    read = {
        each.id
        for each in ast.walk(scope_of(source, node))
        if isinstance(each, ast.Name)
        and isinstance(each.ctx, ast.Load)
        and any(binding.node is parent for binding in reaching(source, each))
    }
    return [dotted(each) for each in parent.targets[0].elts if dotted(each)] if len(read) > 1 else []


def _changeable(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return (library(source, node) or dotted(node.func)) in _CHANGEABLE
    return isinstance(node, ast.List | ast.Dict | ast.Set) and not getattr(node, "elts", getattr(node, "keys", []))


def _bound_to(source: Source, node: ast.expr) -> str:
    parent = parents(source).get(node)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return dotted(parent.targets[0])
    return dotted(parent.target) if isinstance(parent, ast.AnnAssign) else ""


def _changed_inside(source: Source, made: ast.expr, name: str) -> ast.expr | None:
    """Where one of the inner objects is changed: `x[i].append(…)`, `x[i][j] = …`, also by a variable of a loop."""
    around = class_of(source, made) if name.startswith("self.") else scope_of(source, made)
    for node in ast.walk(around or source.tree):
        if isinstance(node, ast.Call) and method(node) in _CHANGES:
            inner = receiver(node)
            if inner is not None and _one_of(source, inner, made, name):
                return node
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and _one_of(source, node.value, made, name)
        ):
            return node
    return None


def _one_of(source: Source, node: ast.expr, made: ast.expr, name: str) -> bool:
    if isinstance(node, ast.Subscript):
        return dotted(node.value) == name and any(value is made for value, _ in held(source, node.value))
    for binding in reaching(source, node) if isinstance(node, ast.Name) else ():
        if binding.how == "looped":
            over = [value for value, by in held(source, node) if by is binding]
            if any(dotted(each) == name and any(value is made for value, _ in held(source, each)) for each in over):
                return True
    return False
