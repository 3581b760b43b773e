"""From a place that was sampled to the expression of the program that was being worked out there."""

from __future__ import annotations

import ast
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Spot
from rldebug.syntax.names import dotted, library, method
from rldebug.syntax.places import statement_of

Place = tuple[int, int, int, int]


@lru_cache(maxsize=256)
def _by_place(source: Source) -> dict[Place, ast.expr]:
    """Expressions by where they begin and end; of two at the same place the inner one."""
    found: dict[Place, ast.expr] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.expr) and node.end_lineno is not None and node.end_col_offset is not None:
            found[node.lineno, node.col_offset, node.end_lineno, node.end_col_offset] = node
    return found


@lru_cache(maxsize=256)
def _by_line(source: Source) -> dict[int, ast.stmt]:
    """The innermost statement that a line belongs to. Of one with a body, only its head."""
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(source.tree):  # the outer before the inner
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
            for line in range(node.lineno, max(last, node.lineno) + 1):
                found[line] = node
    return found


def node_at(source: Source, spot: Spot) -> ast.expr | ast.stmt | None:
    if spot.end_column or spot.column:
        exact = _by_place(source).get((spot.line, spot.column, spot.end_line, spot.end_column))
        if exact is not None:
            return exact
    return _by_line(source).get(spot.line)


def statement_at(source: Source, spot: Spot) -> ast.stmt | None:
    node = node_at(source, spot)
    return None if node is None else statement_of(source, node)


def called_at(source: Source, spot: Spot) -> str:
    """What is called there: `torch.tensor`, however it was imported; `.item` of a method; `print` and the like."""
    node = node_at(source, spot)
    if isinstance(node, ast.Expr | ast.Assign | ast.Return) and isinstance(node.value, ast.Call):
        node = node.value  # where Python knows no more than the line
    if not isinstance(node, ast.Call):
        return ""
    full = library(source, node)
    if full:
        return full
    if method(node):
        return f".{method(node)}"
    return dotted(node.func)
