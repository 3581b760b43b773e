"""What an environment gave as an observation, where that has another shape than its space declares."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from math import prod
from types import FunctionType
from typing import Any

from rldebug.evidence.crashes.env import user_class
from rldebug.evidence.crashes.facts import Fact, attributes, is_array, is_module, kind_of, space_of
from rldebug.evidence.crashes.scene import Scene
from rldebug.evidence.crashes.source import Place, bindings, line_told, methods_of
from rldebug.syntax.names import dotted, method
from rldebug.syntax.places import calls_in, own_nodes

ABOUT_WIDTHS = ("mat1 and mat2 shapes cannot", "size mismatch, got input", "must be equal to input_size", "mat and vec")
_LAYERS = 12


def observed_facts(scene: Scene) -> Fact:
    """The name of an observation just as it came, its shape, that of the space, and which wrapper is to blame."""
    said = {int(each) for each in re.findall(r"\d+", scene.message)}
    for place in scene.stack:
        for node, target, env in _answers(place):
            value, space = place.value(target), space_of(env, "observation_space")
            shape = getattr(space, "shape", None)
            if not is_array(value) or kind_of(space) != "space" or not isinstance(shape, tuple):
                continue
            if tuple(value.shape) == shape or not _as_it_came(place, dotted(target)):
                continue
            if not (_widths(tuple(value.shape)) & said and _widths(shape) & said):
                continue  # another width was refused, or the network was not made for this space
            told: Fact = {"fault": "observed", "name": dotted(target), "shape": [int(each) for each in value.shape]}
            told |= {"space": [int(each) for each in shape], "env": _path(node), "answered": line_told(place, node)}
            return told | _to_blame(env)
    return _declared_width(scene, said)


def _declared_width(scene: Scene, said: set[int]) -> Fact:
    """A part of a network of the user's that says how many features it gives, `features_dim`, and gives another number:
    what comes behind it was made for what it says."""
    seen: set[int] = set()
    for frame in scene.frames:
        for module in [each for each in frame.f_locals.values() if is_module(each)]:
            for part in module.modules():
                held = attributes(part)
                says = next(
                    (held[name] for name in ("_features_dim", "features_dim") if type(held.get(name)) is int), None
                )
                if says is None or id(part) in seen or says not in said or not user_class(type(part)):
                    continue
                seen.add(id(part))
                layers = [each for each in part.modules() if type(getattr(each, "out_features", None)) is int]
                if not layers or layers[-1].out_features == says or layers[-1].out_features not in said:
                    continue
                told: Fact = {"fault": "features", "layer": type(part).__name__, "says": says}
                told["gives"] = layers[-1].out_features
                places = [each for each in methods_of(part) if getattr(each.scope, "name", "") == "__init__"]
                calls = [(each, call) for each in places for call in calls_in(each.scope) if _is_linear(call)]
                if calls:
                    told["made"] = line_told(*max(calls, key=lambda each: each[1].lineno))
                return told
    return {}


def _is_linear(call: ast.Call) -> bool:
    return dotted(call.func).rpartition(".")[2] in ("Linear", "LazyLinear")


def _widths(shape: tuple[int, ...]) -> set[int]:
    return {prod(shape), *shape[-1:]}


def _answers(place: Place) -> Iterator[tuple[ast.Assign, ast.expr, Any]]:
    """Every `obs, … = env.step(action)` and `obs, info = env.reset()` of a function."""
    for node in own_nodes(place.scope):
        if isinstance(node, ast.Assign) and method(node.value) in ("reset", "step"):
            assert isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)
            env, target = place.value(node.value.func.value), node.targets[0]
            target = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
            if kind_of(env) == "environment" and isinstance(target, ast.Name):
                yield node, target, env


def _path(node: ast.Assign) -> str:
    return dotted(node.value.func.value)  # type: ignore[attr-defined]


def _as_it_came(place: Place, name: str, deep: int = 3) -> bool:
    """Whether nothing but answers of an environment is ever put under a name: `state = next_state` is one too."""
    found = bindings(place.scope, name)
    for each in found:
        if isinstance(each.value, ast.Name) and deep and _as_it_came(place, each.value.id, deep - 1):
            continue
        if method(each.value) not in ("reset", "step") or each.part not in (0, None):
            return False
    return bool(found)


def _to_blame(env: Any) -> Fact:
    """The outermost wrapper of the user's that answers by itself and leaves the space as it was; else the one that
    declares it."""
    layer, declared = env, None
    for _ in range(_LAYERS):
        held, mine = attributes(layer), user_class(type(layer))
        declares = held.get("observation_space", held.get("_observation_space")) is not None
        methods = [
            value
            for name, value in vars(type(layer)).items()
            if isinstance(value, FunctionType) and name in ("step", "reset", "observation")
        ]
        if mine and (declares or methods):
            first = vars(type(layer)).get("__init__", methods[0] if methods else None)
            code = getattr(first, "__code__", None)
            declared = {"layer": type(layer).__name__, "declares": declares}
            if code is not None:
                declared |= {"file": code.co_filename, "line": code.co_firstlineno, "text": ""}
        if declared or declares or "env" not in held:
            break
        layer = held["env"]
    return {"blame": declared} if declared else {}
