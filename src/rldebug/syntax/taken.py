"""Branches that a program took: what an option had switched off is not what ran, and is not judged with it."""

from __future__ import annotations

import ast
import dataclasses
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from rldebug.evidence.source import Source

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda one, several: one in several, ast.NotIn: lambda one, several: one not in several,
}  # fmt: skip


class Unknown(Exception):
    """What a test depends on is not an option of the program."""


def as_run(source: Source, settings: Mapping[str, Any], options: Mapping[str, Any]) -> Source:
    """The source without branches that an option kept from running. `settings`: what names of the module were bound to
    when the program ended; `options`: what it was told on its command line, read as `args.name`."""
    taken = _Taken(source.tree, settings, options)
    if not taken.decides:
        return source
    return dataclasses.replace(source, tree=ast.fix_missing_locations(taken.visit(_copied(source))))


def _copied(source: Source) -> ast.Module:
    return ast.parse(source.text, source.file)  # what is worked out about a tree hangs on its nodes


class _Taken(ast.NodeTransformer):
    def __init__(self, tree: ast.Module, settings: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        bound = _bound(tree)
        stored = {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute) and _writes(each)}
        # Bound once, by a statement that runs once, and nowhere else under that name: it was the same all along.
        once = {name for name in _assigned(tree) if bound[name] == 1}
        self.settings = {name: each for name, each in settings.items() if name in once}
        self.options = {name: each for name, each in options.items() if name not in stored}
        tests = (each.test for each in ast.walk(tree) if isinstance(each, (ast.If, ast.IfExp)))
        self.decides = any(self.verdict(each) is not None for each in tests)

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        verdict = self.verdict(node.test)
        if verdict is None:
            return node
        return (node.body if verdict else node.orelse) or ast.copy_location(ast.Pass(), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        verdict = self.verdict(node.test)
        return node if verdict is None else node.body if verdict else node.orelse

    def verdict(self, test: ast.expr) -> bool | None:
        try:
            return bool(self._value(test))
        except (Unknown, TypeError):
            return None

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id in self.settings:
            return self.settings[node.id]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in self.options:
            return self.options[node.attr]
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return [self._value(each) for each in node.elts]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self._value(node.operand)
        if isinstance(node, ast.BoolOp):
            return self._several(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            return _COMPARED[type(node.ops[0])](self._value(node.left), self._value(node.comparators[0]))
        raise Unknown

    def _several(self, node: ast.BoolOp) -> bool:
        """`and` and `or`, where one that is known may decide."""
        told = [self.verdict(each) for each in node.values]
        decisive = isinstance(node.op, ast.Or)
        if decisive in told:
            return decisive
        if None in told:
            raise Unknown
        return not decisive


def _assigned(tree: ast.Module) -> set[str]:
    """Names that the module itself binds, in no loop and under no condition."""
    plain = [each for each in tree.body if isinstance(each, (ast.Assign, ast.AnnAssign))]
    return {each.id for one in plain for each in ast.walk(one) if isinstance(each, ast.Name) and _writes(each)}


def _bound(tree: ast.Module) -> Counter[str]:
    """How often each name is bound, in whatever scope."""
    counted: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and _writes(node):
            counted[node.id] += 1
        elif isinstance(node, ast.arg):
            counted[node.arg] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            counted[node.name] += 1
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            counted.update(dict.fromkeys(node.names, 2))
        elif isinstance(node, ast.alias):
            counted[(node.asname or node.name).partition(".")[0]] += 1
    return counted


def _writes(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, (ast.Store, ast.Del))
