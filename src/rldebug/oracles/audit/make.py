"""How a user's buffer is made and fed: constructor and add arguments by name, by order, or as one object."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rldebug.oracles.audit.coding import Form, Given, Step, action, observation, scalar
from rldebug.oracles.audit.names import ADD, MAKE, METHODS, role
from rldebug.oracles.audit.objects import IN_ORDER, Plan, objects

_KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Stuck(Exception):
    """It cannot be driven; the message says what was expected."""


def parameters(function: Callable[..., Any], owner: type | None = None) -> dict[str, inspect.Parameter]:
    """By name, without self. What a constructor hands on with *args or **kwargs is looked up in its parents."""
    try:
        found = dict(inspect.signature(function if owner is None else _init(owner)).parameters)
    except (TypeError, ValueError):
        return {}
    if owner is not None and any(each.kind is each.VAR_KEYWORD for each in found.values()):
        for parent in owner.__mro__[1:]:
            if "__init__" not in vars(parent) or parent is object:
                continue
            for name, each in list(inspect.signature(_init(parent)).parameters.items())[1:]:
                if each.kind is each.POSITIONAL_OR_KEYWORD:
                    each = each.replace(kind=each.KEYWORD_ONLY)
                found.setdefault(name, each)
            if not any(each.kind is each.VAR_KEYWORD for each in inspect.signature(_init(parent)).parameters.values()):
                break
    return {name: each for name, each in found.items() if name != "self"}


def _init(kind: type) -> Callable[..., Any]:
    return kind.__init__  # type: ignore[misc,no-any-return]


def construct(
    target: Any, wants: Mapping[str, Any], form: Form, given: Given, order: tuple[str, ...] = ()
) -> tuple[Any, dict[str, str]]:
    """An instance of the class, or what the function returns, or a copy of the object; and how it was made."""
    if not callable(target) or not (inspect.isclass(target) or inspect.isroutine(target)):
        return copy.deepcopy(target), {}
    owner = target if inspect.isclass(target) else None
    values: dict[str, Any] = {}
    mapping: dict[str, str] = {}
    unknown = []
    shapes: list[str] = []
    for name, each in parameters(target, owner).items():
        if each.kind not in _KINDS:
            continue
        what = given.get(name) or role(name, MAKE, order)
        if what in ("obs", "action"):
            shapes.append(name)
        value = _value(what, name, wants, form)
        if value is not _NOTHING:
            values[name] = value
            mapping[f"{getattr(target, '__name__', 'it')}({name})"] = f"{what} = {_brief(value)}"
        elif each.default is each.empty:
            unknown.append(name)
    if unknown:
        raise Stuck(
            f"its constructor takes {', '.join(unknown)}, which is not understood; expected arguments such as "
            f"capacity, obs_dim, act_dim, n_envs, device. Say what it is with --map {unknown[0]}=capacity, or hand "
            "over a function without arguments that makes it: def make(): return MyBuffer(…)"
        )
    attempts = [values]
    if shapes:  # a size may be asked for as a number or as a shape
        attempts.append({name: _otherwise(each) if name in shapes else each for name, each in values.items()})
    error: Exception | None = None
    for attempt in attempts:
        try:
            made = target(**attempt)
            if made is None:
                raise Stuck("it returns nothing; expected a class, or a function that makes a buffer")
            return made, mapping
        except Stuck:
            raise
        except Exception as failed:
            error = error or failed
    raise Stuck(f"its constructor raised {type(error).__name__}: {error}")


_NOTHING = object()


def _value(what: str | None, name: str, wants: Mapping[str, Any], form: Form) -> Any:
    if what == "obs":
        flat = form.flat_dims if form.flat_dims is not None else not ("shape" in name or name.endswith("dims"))
        return int(np.prod(form.shape)) if flat and len(form.shape) == 1 else form.shape
    if what == "action":
        shape: tuple[int, ...] = (2,) if form.actions == "box" else (1,)
        if "shape" in name:
            return shape if form.actions == "box" else ()
        return shape if name.endswith("dims") and form.flat_dims is False else shape[0]
    if what == "actions":
        return 2 if form.actions == "box" else 128
    if what in ("observation_space", "action_space"):
        return _space(what, form)
    if what in ("height", "width") and len(form.shape) > 1:
        spread = form.shape[1:] if form.shape[0] <= 3 else form.shape
        return spread[0 if what == "height" else 1]
    if what == "device":
        return "cpu"
    if what == "seed":
        return 0
    if what == "storage":
        return sys.modules["torchrl.data"].LazyTensorStorage(wants["capacity"])  # whose class it is, that is loaded
    return wants.get(what, _NOTHING) if what is not None else _NOTHING


def _space(what: str, form: Form) -> Any:
    from gymnasium import spaces

    if what == "action_space":
        return spaces.Box(-1.0, 1.0, (2,), np.float32) if form.actions == "box" else spaces.Discrete(128)
    if form.pixels:
        return spaces.Box(0, 255, form.shape, np.uint8)
    return spaces.Box(-np.inf, np.inf, form.shape, np.float32)


def _otherwise(value: Any) -> Any:
    if isinstance(value, tuple):
        return int(np.prod(value)) if value else 1
    return (value,)


def _brief(value: Any) -> str:
    return str(value) if isinstance(value, (int, float, str, tuple)) else type(value).__name__


def method(buffer: Any, what: str, given: Given) -> tuple[str, Callable[..., Any]] | None:
    """The method for this, by the names it usually has, or by the one that was given."""
    if what in given:
        found = getattr(buffer, given[what], None)
        if found is None or not callable(found):
            raise Stuck(f"--map {what}={given[what]}: it has no method of that name")
        return given[what], found
    for name in METHODS[what].split():
        found = getattr(buffer, name, None)
        if callable(found) and (hasattr(type(buffer), name) or inspect.isroutine(found)):
            return name, found
    return None


def needed(buffer: Any, what: str, given: Given, like: str) -> tuple[str, Callable[..., Any]]:
    found = method(buffer, what, given)
    if found is None:
        name = type(buffer).__name__
        known = ", ".join(METHODS[what].split()[:5])
        raise Stuck(
            f"{name} has no method like {known}; expected one like {like}. Name it with --map {what}=METHOD, "
            f"or write an adapter:\nclass Mine({name}):\n    def {like}: return super().METHOD(…)"
        )
    return found


def fields(row: Sequence[Step], form: Form, before: Sequence[Step] | None = None) -> dict[str, Any]:
    """All that can be asked for about one time step: of the environments in `row`, or of its only one."""
    started = [1.0] * len(row) if before is None else [float(each.done) for each in before]
    values: dict[str, Any] = {
        "obs": _pack([observation(each.code, form) for each in row], form),
        "next_obs": _pack([observation(each.next_code, form) for each in row], form),
        "action": _pack([action(each.number, form) for each in row], form),
        "done": _pack([each.done for each in row], form),
        "terminated": _pack([each.terminated for each in row], form),
        "truncated": _pack([each.truncated for each in row], form),
        "not_done": _pack([1.0 - each.done for each in row], form),
        "bad_mask": _pack([1.0 - each.truncated for each in row], form),
        "episode_start": _pack(started, form),
        "priority": _pack([1.0] * len(row), form),
        "discount": _pack([0.5 * (1.0 - each.terminated) for each in row], form),
    }
    network = replace(form, container="torch") if form.container == "mixed" else form
    for name in ("reward", "value", "logp"):
        values[name] = _pack([scalar(name, each.number) for each in row], form if name == "reward" else network)
    infos = [{"TimeLimit.truncated": each.truncated and not each.terminated} for each in row]
    values["infos"] = infos
    values["info"] = infos if form.batched else infos[0]
    return values


def _pack(values: list[Any], form: Form) -> Any:
    if form.batched:
        array = np.stack([np.asarray(each) for each in values])
        array = array.astype(np.float32) if array.dtype == np.float64 else array
        array = array[:, None] if form.column and array.ndim == 1 else array
        if form.container == "torch":
            import torch

            return torch.as_tensor(array)
        return array
    value = values[0]
    if form.container == "torch":
        import torch

        return torch.as_tensor(value, dtype=torch.float32 if isinstance(value, float) else None)
    return value


def plans(buffer: Any, name: str, add: Callable[..., Any], given: Given) -> list[Plan]:
    """Ways to call `add`, likeliest first."""
    known = _inherited(buffer, name, parameters(add))
    named = {each: given.get(each) or role(each, ADD) for each, p in known.items() if p.kind in _KINDS}
    required = [each for each in named if known[each].default is inspect.Parameter.empty]
    variadic = any(each.kind is each.VAR_POSITIONAL for each in known.values())
    keywords = any(each.kind is each.VAR_KEYWORD for each in known.values())
    has = set(named.values())
    if {"obs", "action"} <= has and all(named[each] for each in required):
        return [_by_name(name, {each: what for each, what in named.items() if what})]
    if len(required) == 1 or (variadic and not required) or (keywords and not required):
        lead = required[0] if required else ""
        return objects(buffer, name, add, lead, variadic=variadic and not required, keywords=keywords and not required)
    rest = [each for each in required if not named[each]]
    if len(required) == 2 and len(rest) == 1 and "priority" in has:
        given_with = next(each for each in required if named[each] == "priority")
        held = objects(buffer, name, add, rest[0], variadic=False, keywords=False)
        return [_with_priority(plan, rest[0], given_with) for plan in held]
    if len(required) == 5:
        return [_by_name(name, dict(zip(required, IN_ORDER, strict=True)))]
    unknown = ", ".join(each for each in required if not named[each]) or "nothing"
    raise Stuck(
        f"{name}() takes {unknown}, which is not understood; expected arguments such as obs, action, reward, next_obs, "
        f"done. Say what they are with --map ARGUMENT=obs …, or write an adapter:\n"
        f"class Mine({type(buffer).__name__}):\n"
        f"    def add(self, obs, action, reward, next_obs, done): super().{name}(…)"
    )


def _with_priority(plan: Plan, lead: str, priority: str) -> Plan:
    """add(error, sample): the transition as an object, and its priority beside it."""

    def build(values: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        args, _ = plan.build(values)
        return (), {lead: args[0], priority: values["priority"]}

    return Plan(build, (*plan.takes, "priority"), plan.mapping)


def _inherited(buffer: Any, name: str, known: dict[str, inspect.Parameter]) -> dict[str, inspect.Parameter]:
    """What a method that only hands *args and **kwargs on to its parent's takes."""
    kinds = {each.kind for each in known.values()}
    if not {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds:
        return known
    own = {key: each for key, each in known.items() if each.kind in _KINDS}
    for parent in type(buffer).__mro__[1:]:
        if name in vars(parent):
            upper = dict(list(inspect.signature(vars(parent)[name]).parameters.items())[1:])
            if not any(each.kind is each.VAR_KEYWORD for each in upper.values()):
                return upper | own
    return known


def _by_name(name: str, slots: Mapping[str, str]) -> Plan:
    def build(values: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        return (), {each: values[what] for each, what in slots.items() if what in values}

    takes = tuple(dict.fromkeys(what for what in slots.values()))
    return Plan(build, takes, {f"{name}({each})": what for each, what in slots.items()})
