"""What is not there: an attribute that an object of the user's was never given, a place of a collection that was drawn
and is not filled yet.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import deque
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from rldebug.evidence.crashes.facts import Fact, attributes, is_module, kind_of
from rldebug.evidence.crashes.origin import is_own
from rldebug.evidence.crashes.scene import Scene
from rldebug.evidence.crashes.source import Place, bindings, first_argument, latest, line_told, methods_of
from rldebug.syntax.names import dotted
from rldebug.syntax.places import Function, own_nodes

ABOUT_ATTRIBUTES = ("object has no attribute '",)
ABOUT_PLACES = ("index out of range",)
_ASKED = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
_DRAWS = frozenset(
    {"sample", "choice", "choices", "randint", "randrange", "integers", "randperm", "permutation", "random_integers"}
)


# ── an attribute ────────────────────────────────────────────────────────────────────────────────────────────────────


def attribute_facts(scene: Scene) -> Fact:
    """Of an object whose class the user has written: who it is, what it has that is called alike, where it is set."""
    asked = _ASKED.search(scene.message)
    if asked is None or not scene.stack:
        return {}
    kind, name = asked.groups()
    if name.endswith("_space"):
        return {}  # what makes an environment one: that has a rule of its own
    place = scene.stack[0]
    for path, owner in _asked_of(place, name):
        if type(owner).__name__ != kind or not _is_users(type(owner)):
            continue
        facts: Fact = {"fault": "attribute", "type": kind, "attribute": name, "owner": path, "kind": kind_of(owner)}
        alike = get_close_matches(name, sorted(_names(owner)), n=2, cutoff=0.6)
        places = [(each, f"{first_argument(each)}.{name}") for each in methods_of(owner)]
        places += [(each, f"{path}.{name}") for each in scene.stack]
        found = [(each, binding) for each, full in places for binding in bindings(each.scope, full)]
        if found:
            where, binding = found[0]
            function = where.scope.name if isinstance(where.scope, Function) else ""
            facts["set"] = {**line_told(where, binding.statement), "function": function}
        return {**facts, "alike": alike}
    return {}


def _asked_of(place: Place, name: str) -> Iterator[tuple[str, Any]]:
    for node in _on_line(place):
        path = dotted(node.value) if isinstance(node, ast.Attribute) and node.attr == name else ""
        if path and (value := place.value(node.value)) is not None:  # type: ignore[attr-defined]
            yield path, value


def _on_line(place: Place) -> Iterator[ast.AST]:
    """The nodes of a function on the line that failed: several statements may stand there."""
    line = place.line or 0
    for node in own_nodes(place.scope):
        if getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", None) or 0):
            yield node


def _is_users(kind: type) -> bool:
    try:
        return is_own(inspect.getsourcefile(kind) or "", kind.__module__)
    except (TypeError, OSError):
        return kind.__module__ == "__main__"


def _names(owner: Any) -> set[str]:
    held = attributes(owner)
    names = set(held)
    if is_module(owner):
        names |= {*held.get("_parameters", {}), *held.get("_buffers", {}), *held.get("_modules", {})}
    for kind in type(owner).__mro__:
        if _is_users(kind):
            names |= set(vars(kind))
    return {each for each in names if not each.startswith("_")}


# ── a place ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def place_facts(scene: Scene) -> Fact:
    """Of `self.slots[k]`: how many are there, which was asked for, and the line that drew it at random."""
    if not scene.stack:
        return {}
    place = scene.stack[0]
    for node in _on_line(place):
        if isinstance(node, ast.Subscript) and (told := _drawn_in_place(place, node)):
            return told
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Name):
            continue
        held, index = place.value(node.value), place.value(node.slice)
        index = index if type(index) is int else getattr(index, "item", lambda: None)()
        if kind_of(held) or not hasattr(held, "__len__") or type(index) is not int or index < len(held):
            continue
        if isinstance(held, dict) and set(held) - set(range(len(held))):
            continue  # its keys are not the numbers of places
        drawn = _drawn(place, node.slice.id)
        if drawn is not None:
            found: Fact = {"fault": "place", "name": dotted(node.value), "holds": len(held), "index": index}
            return {**found, "drawn": line_told(place, drawn)}
    return {}


def _drawn_in_place(place: Place, node: ast.Subscript) -> Fact:
    """`rows[random.randint(0, len(rows))]`: which it was is not known, only that it was beyond the last."""
    held = place.value(node.value)
    if not isinstance(node.slice, ast.Call) or not isinstance(held, list | tuple | deque):
        return {}
    called = node.slice.func.attr if isinstance(node.slice.func, ast.Attribute) else dotted(node.slice.func)
    if called not in _DRAWS:
        return {}
    told: Fact = {"fault": "place", "name": dotted(node.value), "holds": len(held), "index": None}
    return {**told, "drawn": line_told(place, node), "inclusive": called == "randint"}


def _drawn(place: Place, name: str, deep: int = 3) -> ast.AST | None:
    """The line that drew a number at random: it, or the list that it is taken from."""
    sources: list[tuple[ast.AST, ast.expr]] = []
    for node in own_nodes(place.scope):
        if isinstance(node, ast.comprehension) and name in {dotted(each) for each in ast.walk(node.target)}:
            sources.append((node.iter, node.iter))
    if (binding := latest(place, name)) is not None:
        sources.append((binding.statement, binding.value))
    for at, value in sources:
        calls = [each for each in ast.walk(value) if isinstance(each, ast.Call)]
        names = {each.func.attr if isinstance(each.func, ast.Attribute) else dotted(each.func) for each in calls}
        if names & _DRAWS:
            return at
        for each in ast.walk(value):
            known = deep and isinstance(each, ast.Name) and each.id != name
            if known and (found := _drawn(place, each.id, deep - 1)) is not None:  # type: ignore[attr-defined]
                return found
    return None
