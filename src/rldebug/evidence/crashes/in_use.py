"""Which optimizers apply the gradient of a loss: those whose step() comes after its backward(), before the next one."""

from __future__ import annotations

import ast
from typing import Any

from rldebug.evidence.crashes.named import is_optimizer
from rldebug.evidence.crashes.scene import Scene, asked_of
from rldebug.evidence.crashes.source import Place
from rldebug.syntax.names import method
from rldebug.syntax.places import calls_in


def optimizers_in_use(scene: Scene) -> list[Any]:
    """Those of the failing backward(); none where the text does not tell."""
    for depth, place in enumerate(scene.stack):
        start = scene.asked[1] if scene.asked is not None and depth == 0 else None
        end = (start.end_lineno or 0, start.end_col_offset or 0) if start else (place.line or 0, 1 << 30)
        if found := optimizers_after(place, end):
            return found
    return []


def optimizers_after(place: Place, end: tuple[int, int]) -> list[Any]:
    """Those that step after a place in the text, up to a backward() that follows upon a step."""
    found: list[Any] = []
    calls = [(_end(each), each) for each in calls_in(place.scope)]
    for _, call in sorted(((at, each) for at, each in calls if at > end), key=lambda each: each[0]):
        if found and asked_of(call) is not None:
            break
        found += [each for each in stepped(place, call) if not any(each is one for one in found)]
    return found


def stepped(place: Place, call: ast.Call) -> list[Any]:
    """The optimizer of `optimizer.step()` and of `scaler.step(optimizer)`."""
    if method(call) != "step" or not isinstance(call.func, ast.Attribute):
        return []
    return [value for each in (call.func.value, *call.args) if is_optimizer(value := place.value(each))]


def parameters_of_all(optimizers: list[Any]) -> list[Any]:
    return [one for each in optimizers for group in each.param_groups for one in group["params"]]


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
