"""Whether a key was asked of what an environment's step() or reset() gives beside the observation."""

from __future__ import annotations

import ast

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.source import bindings, source_of
from rldebug.syntax.names import dotted
from rldebug.syntax.places import scope_of

_PLACE = {"step": (3, 4), "reset": (1,)}  # 3 as in the API before truncation, and in Stable-Baselines3


def info_asked(crash: Crash, key: str) -> str:
    """The name of the info that lacks the key, by the lines that bind it; empty where it is another dict, or the file
    is not here."""
    at = crash.at
    source = source_of(at.file) if at is not None else None
    if at is None or source is None or source.lines[at.line - 1 : at.line] == []:
        return ""
    if at.source.strip() != source.lines[at.line - 1].strip()[:300]:
        return ""  # the file has changed since
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Subscript) or not node.lineno <= at.line <= (node.end_lineno or node.lineno):
            continue
        if isinstance(node.slice, ast.Constant) and node.slice.value == key and (name := dotted(node.value)):
            found = bindings(scope_of(source, node), name)
            if any(_is_info(each.value, each.part) for each in found):
                return name
    return ""


def _is_info(value: ast.expr, part: int | None) -> bool:
    method = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
    return part in _PLACE.get(method, ())
