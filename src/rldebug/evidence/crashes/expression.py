"""The expression that failed, the names in it, and what they stand for."""

from __future__ import annotations

import ast
import linecache
from types import CodeType, FrameType
from typing import Any

from rldebug.evidence.crashes.facts import attributes


def expression_at(code: CodeType, instruction: int, line: int) -> str:
    """The expression that failed; the whole line before Python 3.11, which does not know the columns."""
    file, whole = code.co_filename, linecache.getline(code.co_filename, line).strip()
    positions = getattr(code, "co_positions", None)
    if positions is None or instruction < 0:
        return whole
    for place, (first, last, start, end) in enumerate(positions()):
        if place != instruction // 2:
            continue
        if None in (first, last, start, end):
            return whole
        lines = [linecache.getline(file, each) for each in range(first, min(last, first + 20) + 1)]
        # Columns count bytes of UTF-8.
        raw = [each.encode() for each in lines]
        raw[-1] = raw[-1][:end] if last - first < 20 else raw[-1]
        raw[0] = raw[0][start:]
        return b"".join(raw).decode(errors="replace").strip() or whole
    return whole


def names_in(expression: str) -> list[str]:
    """`a`, `self.b.c`, `batch['action']`: names, attributes and items of an expression; called functions left out."""
    try:
        tree = ast.parse(expression.strip())
    except (SyntaxError, ValueError, RecursionError):
        return []
    told = {ast.unparse(node): None for node in ast.walk(tree) if _is_path(node)}
    return list(told)


def _is_path(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and _is_path(node.value)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_path(node.value))


def values_of(names: list[str], frame: FrameType) -> dict[str, Any]:
    """What the names stand for, as far as that can be told without running anything."""
    told: dict[str, Any] = {}
    for name in names:
        try:
            told[name] = _value(ast.parse(name, mode="eval").body, frame)
        except (LookupError, TypeError, SyntaxError):
            continue
    return told


def _value(node: ast.AST, frame: FrameType) -> Any:
    if isinstance(node, ast.Name):
        return frame.f_locals[node.id] if node.id in frame.f_locals else frame.f_globals[node.id]
    if isinstance(node, ast.Attribute):
        held = attributes(_value(node.value, frame))
        held = {**held, **held.get("_parameters", {}), **held.get("_buffers", {}), **held.get("_modules", {})}
        return held[node.attr]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        held = _value(node.value, frame)
        if type(held) in (dict, list, tuple):  # any other may run the program's own code
            return held[node.slice.value]
    raise LookupError(ast.unparse(node))
