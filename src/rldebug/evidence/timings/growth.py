"""Growth: containers of the user's that only ever get longer, and what the text says about them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Held, Timing
from rldebug.finding import Where
from rldebug.syntax.names import argument, dotted, library, method, receiver
from rldebug.syntax.places import above, loops_of

LOOKS = 3
"""At a container, before anything is said about it."""

_ADDS = ("append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault")
_TAKES = ("pop", "popleft", "popitem", "clear", "remove", "discard")


def grows(held: Held, looks: int = LOOKS) -> bool:
    """To the end, and never shorter: no buffer that is full, no list that is emptied."""
    items, at = held.items, held.at
    if len(items) < max(looks, 2) or len(at) != len(items) or items[-1] <= items[0] or at[-1] <= at[0]:
        return False
    if any(later < earlier for earlier, later in pairwise(items)):
        return False
    late = len(items) - 1 - max(1, len(items) // 3)
    usual = (items[-1] - items[0]) / (at[-1] - at[0])
    return (items[-1] - items[late]) >= 0.5 * usual * (at[-1] - at[late])


def per_second(held: Held) -> float:
    """Bytes; from nothing, where there was one look."""
    if not held.bytes or held.at[-1] <= 0:
        return 0.0
    if len(held.bytes) < 2 or held.at[-1] <= held.at[0]:
        return held.bytes[-1] / held.at[-1]
    return (held.bytes[-1] - held.bytes[0]) / (held.at[-1] - held.at[0])


def added_at(timing: Timing, held: Held) -> Where:
    """The line that makes it longer; else the one where it is known from."""
    for source in _sources(timing, held):
        for node in _named(source, held.name):
            if _use(source, node) == "adds":
                return source.at(node)
    return Where(file=held.file, line=held.line) if held.file and held.line else Where()


def bounded(timing: Timing, held: Held) -> bool:
    """Whether the text empties it somewhere or gives it a largest size; also where nothing in the text adds to it: then
    it is not known how it is made."""
    uses = [_use(source, node) for source in _sources(timing, held) for node in _named(source, held.name)]
    return "bounds" in uses or "adds" not in uses or uses.count("makes") > 1


def sized(timing: Timing, held: Held) -> bool:
    """Whether it is made with a largest size."""
    return any(_has_maximum(source, node) for source in _sources(timing, held) for node in _named(source, held.name))


def _sources(timing: Timing, held: Held) -> list[Source]:
    """A variable is of one file; an attribute may be written to wherever its class is."""
    own = [each for each in timing.sources if each.file == held.file and "." not in held.name]
    return own or list(timing.sources)


def _named(source: Source, name: str) -> Iterator[ast.expr]:
    """Where the container is named, whatever its object is called there: `self.memory` for `agent.memory`."""
    plain, _, index = name.partition("[") if name.endswith("]") else (name, "", "")
    last, kind = plain.rpartition(".")[2], ast.Attribute if "." in plain else ast.Name
    for node in ast.walk(source.tree):
        if not isinstance(node, kind) or dotted(node).rpartition(".")[2] != last:
            continue
        if not index:
            yield node
        elif isinstance(outer := next(above(source, node), None), ast.Subscript) and outer.value is node:
            yield outer  # logs["loss"], one of several


def _use(source: Source, node: ast.expr) -> str:
    """adds, bounds, makes, or "": neither."""
    up = list(above(source, node))
    parent, outer = up[0], up[1] if len(up) > 1 else None
    if isinstance(outer, ast.Call) and receiver(outer) is node:
        if method(outer) in _TAKES:
            return "bounds"
        return _added(source, node) if method(outer) in _ADDS else ""
    if isinstance(parent, ast.AugAssign) and parent.target is node:
        return _added(source, node)
    if isinstance(parent, ast.Delete):
        return "bounds"
    if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.ctx, ast.Load):
        return "bounds"  # overwritten in place, or deleted from
    if isinstance(parent, ast.Assign | ast.AnnAssign) and not isinstance(getattr(node, "ctx", None), ast.Load):
        return "bounds" if loops_of(source, node) or _has_maximum(source, node) else "makes"
    return ""


def _added(source: Source, node: ast.expr) -> str:
    """`if len(memory) < capacity: memory.append(…)` is bounded."""
    name = dotted(node)
    for each in above(source, node):
        if isinstance(each, ast.If) and any(
            isinstance(call, ast.Call) and dotted(call.func) == "len" and call.args and dotted(call.args[0]) == name
            for call in ast.walk(each.test)
        ):
            return "bounds"
    return "adds"


def _has_maximum(source: Source, node: ast.expr) -> bool:
    parent = next(above(source, node), None)
    if not isinstance(parent, ast.Assign | ast.AnnAssign) or not isinstance(parent.value, ast.Call):
        return False
    return library(source, parent.value) == "collections.deque" and argument(parent.value, 1, "maxlen") is not None
