"""Sums and products as they are written: what is added, what is taken away, what is multiplied."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rldebug.syntax.names import dotted


def terms(node: ast.expr, sign: int = 1) -> Iterator[tuple[int, ast.expr]]:
    """The terms of a sum, each with its sign: `r + g * v - w` gives +r, +g * v, -w."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from terms(node.left, sign)
        yield from terms(node.right, sign if isinstance(node.op, ast.Add) else -sign)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from terms(node.operand, -sign)
    else:
        yield sign, node


def factors(node: ast.expr) -> tuple[int, list[ast.expr]]:
    """The factors of a product and its sign; what it is divided by is left out."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = factors(node.left), factors(node.right)
        return left[0] * right[0], [*left[1], *right[1]]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return factors(node.left)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, parts = factors(node.operand)
        return -sign, parts
    return 1, [node]


def added_to(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The sum and what it gets, of `total += x`, `total = total + x` and `total = x + total`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.target, node.value
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and (name := dotted(node.targets[0])):
        value = node.value
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            for one, other in ((value.left, value.right), (value.right, value.left)):
                if dotted(one) == name:
                    return node.targets[0], other
    return None
