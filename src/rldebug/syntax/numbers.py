"""Numbers that the text gives: literals, constants, defaults, fields of settings, options of a command."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import default_of, reaching
from rldebug.syntax.flow import handed
from rldebug.syntax.names import constant, method
from rldebug.syntax.places import Function, scope_of

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_DEEPEST = 6


def number(source: Source, node: ast.expr | None, depth: int = _DEEPEST) -> float | None:
    """The number that an expression stands for, where the text gives one and only one."""
    if node is None or depth <= 0:
        return None
    return evaluated(node, lambda leaf: _of_leaf(source, leaf, depth - 1))


def evaluated(node: ast.expr, leaf: Callable[[ast.expr], float | None]) -> float | None:
    """Arithmetic worked out, with what `leaf` says of everything that is not arithmetic."""
    value = constant(node)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = evaluated(node.operand, leaf)
        return None if inner is None else -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = evaluated(node.left, leaf), evaluated(node.right, leaf)
        if left is None or right is None:
            return None
        try:
            result = _OPERATIONS[type(node.op)](left, right)
        except (ArithmeticError, ValueError):
            return None
        return result if isinstance(result, float) else None
    return leaf(node)


def _of_leaf(source: Source, node: ast.expr, depth: int) -> float | None:
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    bindings = reaching(source, node)
    found: set[float | None] = set()
    for each in bindings:
        if isinstance(each.node, ast.arg):
            found |= of_parameter(source, each.node, depth)
        else:
            found.add(number(source, each.whole, depth))
    if not bindings and isinstance(node, ast.Attribute):
        found = {number(source, each, depth) for each in _settings(source).get(node.attr, ())}
    return next(iter(found)) if len(found) == 1 else None


def of_parameter(source: Source, parameter: ast.arg, depth: int = _DEEPEST) -> set[float | None]:
    """The numbers that calls hand over for a parameter, or its default where there are none."""
    given = {number(source, each, depth) for each in handed(source, parameter)}
    if given:
        return given
    function = scope_of(source, parameter)
    default = default_of(function, parameter.arg) if isinstance(function, Function) else None
    return {number(source, default, depth)}


@lru_cache(maxsize=512)
def _settings(source: Source) -> dict[str, list[ast.expr]]:
    """Name -> defaults, of the fields of classes and of the options that argparse and click are told."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
                    found.setdefault(each.target.id, []).append(each.value)
                elif isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
                    found.setdefault(each.targets[0].id, []).append(each.value)
        elif isinstance(node, ast.Call) and method(node) in ("add_argument", "option"):
            default = next((each.value for each in node.keywords if each.arg == "default"), None)
            names = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            for name in (each.lstrip("-").replace("-", "_") for each in names if each.startswith("--")):
                found.setdefault(name, []).append(default if default is not None else ast.Constant(None))
    return found
