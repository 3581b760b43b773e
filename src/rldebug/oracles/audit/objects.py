"""Transitions that go in as one object: a tuple, a dict, a named tuple, a dataclass, a TensorDict, a Batch."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rldebug.oracles.audit.names import ADD, role

IN_ORDER = ("obs", "action", "reward", "next_obs", "done")


@dataclass(frozen=True)
class Plan:
    """One way to hand a step over to `add`."""

    build: Callable[[Mapping[str, Any]], tuple[Sequence[Any], Mapping[str, Any]]]
    takes: tuple[str, ...]  # roles, as far as they are known
    mapping: Mapping[str, str]


def objects(
    buffer: Any, name: str, add: Callable[..., Any], lead: str, *, variadic: bool, keywords: bool
) -> list[Plan]:
    found: list[Plan] = []
    module = sys.modules.get(type(buffer).__module__)
    top = (type(buffer).__module__ or "").split(".")[0]
    flagged = ("obs", "action", "reward", "next_obs", "terminated", "truncated")
    if top in ("torchrl", "tensordict"):
        found.append(Plan(_tensordict, (*flagged, "done"), {f"{name}({lead})": "a TensorDict"}))
    if top == "tianshou":
        found.append(Plan(_batch, flagged, {f"{name}({lead})": "a Batch"}))
    for kind in _records(module):
        slots = {each: role(each, ADD) for each in _record_fields(kind)}
        if "obs" in slots.values() and all(slots.values()):
            found.append(_record(name, lead, kind, {k: v for k, v in slots.items() if v}, variadic, keywords))
    words = _words_of(type(buffer))
    keyed = {word: role(word, ADD) for word in words}
    looked: dict[str, str] = {word: what for word, what in keyed.items() if what}
    if {"obs", "action"} <= set(looked.values()) and not variadic:
        found.append(_dict(name, lead, looked, keywords))
    if keywords:
        for takes in (
            ("obs", "action", "reward", "next_obs", "done"),
            ("obs", "action", "reward", "terminated", "truncated", "value", "logp"),
            ("obs", "action", "reward", "done", "value", "logp"),
        ):
            found.append(_dict(name, lead, {each: each for each in takes}, True))
    else:
        found.append(_tuple(name, lead, _unpacked(add, lead) or IN_ORDER, variadic))
        if not variadic:
            found.append(_dict(name, lead, {each: each for each in IN_ORDER}, False))
    return found


def _records(module: Any) -> list[type]:
    """Named tuples and dataclasses of the module: Transition, Experience."""
    every = [each for each in vars(module).values() if inspect.isclass(each)] if module is not None else []
    return [each for each in every if hasattr(each, "_fields") or dataclasses.is_dataclass(each)]


def _record_fields(kind: Any) -> tuple[str, ...]:
    return tuple(kind._fields) if hasattr(kind, "_fields") else tuple(each.name for each in dataclasses.fields(kind))


def _record(name: str, lead: str, kind: Any, slots: dict[str, str], variadic: bool, keywords: bool) -> Plan:
    def build(values: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        if variadic:
            return [values[what] for what in slots.values()], {}
        if keywords:
            return (), {each: values[what] for each, what in slots.items()}
        return [kind(**{each: values[what] for each, what in slots.items()})], {}

    said = f"{kind.__name__}({', '.join(slots)})"
    return Plan(build, tuple(slots.values()), {f"{name}({'*args' if variadic else lead or '**fields'})": said})


def _dict(name: str, lead: str, slots: dict[str, str], keywords: bool) -> Plan:
    def build(values: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        held = {each: values[what] for each, what in slots.items()}
        return ((), held) if keywords else ([held], {})

    takes = tuple(dict.fromkeys(slots.values()))
    return Plan(build, takes, {f"{name}({lead or '**fields'})": f"a dict of {', '.join(slots)}"})


def _tuple(name: str, lead: str, order: Sequence[str], variadic: bool) -> Plan:
    def build(values: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        held = tuple(values[each] for each in order)
        return (held, {}) if variadic else ([held], {})

    said = f"({', '.join(order)})"
    return Plan(build, tuple(order), {f"{name}({'*args' if variadic else lead})": said})


def _words_of(kind: type) -> list[str]:
    """What its source looks up by name: transition["obs"], transition.obs."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError, SyntaxError):
        return []
    found = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            found.append(node.slice.value)
        elif isinstance(node, ast.Dict):
            found += [key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return list(dict.fromkeys(found))


def _unpacked(add: Callable[..., Any], lead: str) -> tuple[str, ...]:
    """The order of a tuple that is unpacked: `s, a, r, s2, d = transition`."""
    from rldebug.oracles.bag import unpacking

    found = [role(each, ADD) for each in unpacking(add, lead)]
    return tuple(each for each in found if each) if all(found) else ()


def _tensordict(values: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
    import torch

    kind = sys.modules["tensordict"].TensorDict  # the user's buffer has loaded it

    def tensor(name: str) -> Any:
        return torch.as_tensor(values[name])

    following = {"observation": tensor("next_obs"), "reward": tensor("reward"), "done": tensor("done")}
    following |= {"terminated": tensor("terminated"), "truncated": tensor("truncated")}
    return [kind({"observation": tensor("obs"), "action": tensor("action"), "next": following}, batch_size=[])], {}


def _batch(values: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
    held = {
        "obs": values["obs"],
        "act": values["action"],
        "rew": values["reward"],
        "obs_next": values["next_obs"],
        "terminated": values["terminated"],
        "truncated": values["truncated"],
        "info": {},
    }
    return [sys.modules["tianshou.data"].Batch(held)], {}
