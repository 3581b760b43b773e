"""What was kept from before a change is the very array that is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import Binding, bound_in, reaching
from rldebug.syntax.names import argument, dotted, library, method
from rldebug.syntax.places import Function, before, branches_apart, class_of, own_nodes

_NEW = "zeros ones empty full array zeros_like ones_like empty_like full_like arange linspace concatenate stack"
_MAKES = frozenset(_NEW.split())
_DRAWS = {
    "uniform": 2,
    "normal": 2,
    "integers": 2,
    "randint": 2,
    "standard_normal": 0,
    "random": 0,
    "rand": 0,
    "randn": 0,
}


@dataclass(frozen=True, kw_only=True)
class OldValueIsTheNewOne(Rule):
    """The state before a step and the state after it are one array.

    ## What it checks
    In a method of an environment: a name is bound to an array of the object (`before = self.pos`), the array is changed
    in place (`self.pos += …`, `self.pos[i] = …`, `out=self.pos`), and then the two are set against each other. Only
    where the text says that it is an array. Read from the source.

    ## Why it matters
    No copy was made: both names stand for what the array has become. Their difference is 0 at every step, and so is the
    part of the reward that is made of it.

    ## Likely causes
    1. `.copy()` is missing. Confirm: `print(before is self.pos)`.

    ## What to try first
    `before = self.pos.copy()`, or change it by `self.pos = self.pos + …`.

    ## When it is fine
    Never: what is compared with itself need not be compared.

    ## References
    NumPy documentation, *Copies and views*.
    """

    code: ClassVar[str] = "ENV270"
    name: ClassVar[str] = "old-value-is-the-new-one"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for function in (each for each in ast.walk(evidence.tree) if isinstance(each, Function)):
            owner = class_of(evidence, function)
            if owner is None or "step" not in {each.name for each in owner.body if isinstance(each, Function)}:
                continue
            for name, bound in bound_in(evidence, function).items():
                kept = bound[0] if len(bound) == 1 else None
                source = kept.whole if kept is not None else None
                if kept is None or "." in name or not isinstance(source, ast.Attribute) or not dotted(source):
                    continue
                change = _changed(evidence, function, kept, dotted(source))
                if change is None or not _array(evidence, source):
                    continue
                compared = _compared(function, name, dotted(source), change)
                if compared is None:
                    continue
                whole = dotted(source)
                yield self.finding(
                    f"{name} is {whole} itself, which line {getattr(change, 'lineno', 0)} changes: they never differ",
                    where=evidence.at(kept.node),
                    seen=f"{evidence.quoted(compared)} sets an array against itself",
                    expected=f"{whole} as it was before the change",
                    help=f"{name} = {whole}.copy()",
                    confidence=0.95,
                    edits=(evidence.inserted_after(source, ".copy()"),),
                )


def _changed(source: Source, function: Function, kept: Binding, name: str) -> ast.AST | None:
    """The first change in place after it was kept; None where it is bound anew in between, or in another branch."""
    anew = [each for each in bound_in(source, function).get(name, ()) if each.how != "augmented"]
    for node in own_nodes(function):
        if not before(kept.node, node) or branches_apart(source, kept.node, node):
            continue
        if any(each.node is node for each in anew):
            return None
        if isinstance(node, ast.AugAssign) and dotted(node.target) == name:
            return node
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and dotted(node.value) == name:
            return node
        if isinstance(node, ast.Call) and dotted(argument(node, 99, "out") or node) == name:
            return node
    return None


def _array(source: Source, value: ast.Attribute) -> bool:
    """Whether the text says so of every value that the attribute is given."""
    given = [each for each in reaching(source, value) if each.how == "assigned"]
    owner = class_of(source, value)
    if not given and owner is not None:
        given = [
            each
            for function in owner.body
            if isinstance(function, Function)
            for each in bound_in(source, function).get(dotted(value), ())
            if each.how == "assigned"
        ]
    made = [_makes(source, each.whole) for each in given if constantly(each) is False]
    return bool(made) and all(made)


def constantly(binding: Binding) -> bool:
    """None is put there before there is anything."""
    return isinstance(binding.whole, ast.Constant) and binding.whole.value is None


def _makes(source: Source, value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    package, _, last = library(source, value).rpartition(".")
    if package in ("numpy", "torch") and last in _MAKES:
        return True
    name = method(value)
    if name in _DRAWS:
        size = argument(value, _DRAWS[name], "size")
        return size is not None and not (isinstance(size, ast.Constant) and size.value is None)
    inner = value.func.value if isinstance(value.func, ast.Attribute) else None
    return name in ("copy", "clone", "astype") and _makes(source, inner)


def _compared(function: Function, kept: str, name: str, change: ast.AST) -> ast.expr | None:
    """Where, after the change, one is subtracted from the other or compared with it."""
    for node in own_nodes(function):
        if not before(change, node):
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            left, right = _names(node.left), _names(node.right)
        elif isinstance(node, ast.Compare) and len(node.comparators) == 1:
            left, right = _names(node.left), _names(node.comparators[0])
        else:
            continue
        if (kept in left and name in right and kept not in right and name not in left) or (
            name in left and kept in right and name not in right and kept not in left
        ):
            return node
    return None


def _names(node: ast.AST) -> set[str]:
    return {dotted(each) for each in ast.walk(node) if dotted(each)}
