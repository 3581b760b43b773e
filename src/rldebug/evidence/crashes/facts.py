"""What can be told of the values that lay in a frame when it was left by an exception: kinds and shapes, never data.

Everything here is asked of a program that has already failed, and of objects that may be half built: each question is
asked on its own, and one that cannot be answered is left out.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping
from types import FrameType, FunctionType, ModuleType
from typing import Any

from rldebug.evidence.crashes.env import agents_of, layers_of

Fact = dict[str, Any]

_MOST = 80  # facts of one frame
_INSIDE = 24  # facts of one object
_LOOKED_AT = 1 << 18  # elements of a tensor that are searched for NaN
_NODES = 400  # of the graph behind a tensor: a stack of many log-probs is wide before it is deep
_SPACES = ("observation_space", "action_space")
_LIBRARY_ENVS = ("gymnasium", "gym", "pettingzoo", "stable_baselines3", "sb3_contrib")


def torch_of() -> Any:
    """torch, if the program has imported it. Not imported for it: a crash without tensors does not need it."""
    return sys.modules.get("torch")


def is_module(value: Any) -> bool:
    torch = torch_of()
    return torch is not None and isinstance(value, torch.nn.Module)


def is_tensor(value: Any) -> bool:
    torch = torch_of()
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray | numpy.generic)


def attributes(value: Any) -> dict[str, Any]:
    """What the object itself holds. Nothing is looked up: a property would run the program's own code."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except Exception:
        return {}
    return dict(held) if isinstance(held, dict) else {}


def kind_of(value: Any) -> str:
    """What an object is to a training: network, optimizer, distribution, environment, buffer; empty for others."""
    try:
        return "" if isinstance(value, type | ModuleType | FunctionType) else _kind_of(value)
    except Exception:  # an object may answer isinstance() itself
        return ""


def _kind_of(value: Any) -> str:
    torch = torch_of()
    if torch is not None:
        if isinstance(value, torch.nn.Module):
            return "network"
        if isinstance(value, torch.optim.Optimizer):
            return "optimizer"
        if isinstance(value, torch.distributions.Distribution):
            return "distribution"
    lines = type(value).__mro__
    if any(each.__name__ == "Space" and each.__module__.split(".")[0] in _LIBRARY_ENVS for each in lines):
        return "space"
    acts = all(any(callable(vars(each).get(name)) for each in lines) for name in ("reset", "step"))
    if acts and not any(is_module(each) for each in attributes(value).values()):
        return "environment"
    return "buffer" if _holds_transitions(value) else ""


def _holds_transitions(value: Any) -> bool:
    """Arrays of one length beside a number that counts, or a queue of tuples: and no network, which an agent has."""
    held = attributes(value)
    torch = torch_of()
    learns = (torch.nn.Module, torch.optim.Optimizer) if torch is not None else ()
    if not held or any(isinstance(each, learns) for each in held.values()):
        return False
    if any(isinstance(each, deque | list) and each and isinstance(each[0], tuple | dict) for each in held.values()):
        return True
    rows = [each.shape[0] for each in held.values() if (is_array(each) or is_tensor(each)) and each.ndim]
    counts = any(type(each) is int for each in held.values())
    return counts and any(rows.count(length) >= 2 and length > 1 for length in rows)


# ── one value ───────────────────────────────────────────────────────────────────────────────────────────────────────


def fact_of(value: Any, *, deep: bool = True, search: bool = True) -> Fact | None:
    """None for what says nothing of a training: functions, classes, modules of Python, texts."""
    try:
        return _fact_of(value, deep, search)
    except Exception:
        return {"kind": "unknown", "type": type(value).__name__}


def _fact_of(value: Any, deep: bool, search: bool) -> Fact | None:
    if value is None or isinstance(value, bool | int | float):
        return {"kind": "number", "type": type(value).__name__, "value": _plain(value)}
    if is_tensor(value):
        return _tensor(value, search)
    if is_array(value):
        return _array(value, search)
    # A collection of the user's own kind may compute what it holds.
    if type(value) in (list, tuple, deque, set, dict) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return _collection(value, deep)
    kind = kind_of(value)
    if kind == "network":
        return _network(value, search)
    if kind == "optimizer":
        rates = [group.get("lr") for group in value.param_groups]
        return {"kind": kind, "type": type(value).__name__, "lr": [_plain(each) for each in rates[:4]]}
    if kind == "environment":
        return _environment(value)
    if kind:
        return {"kind": kind, "type": type(value).__name__}
    return None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 60 else float(value)
    number = float(value)
    return number if number == number and abs(number) != float("inf") else str(number)  # JSON knows neither


def _tensor(value: Any, search: bool) -> Fact:
    fact: Fact = {
        "kind": "tensor",
        "shape": [int(each) for each in value.shape],
        "dtype": str(value.dtype).removeprefix("torch."),
        "device": str(value.device),
        "grad": bool(value.requires_grad),
    }
    if value.requires_grad:
        fact["leaf"] = bool(value.is_leaf)
    if value.grad_fn is not None:
        fact["ops"] = _ops(value.grad_fn)
    torch = torch_of()
    # A subclass may do anything when it is asked something; and only floats can be NaN.
    if search and value.is_floating_point():
        plain = type(value) in (torch.Tensor, torch.nn.Parameter)
        fact |= _oddities(value.detach(), torch) if plain else {"unsearched": True}
    elif search and type(value) is torch.Tensor and value.dtype in (torch.int32, torch.int64):
        fact |= _span(value)
    return fact


def _array(value: Any, search: bool) -> Fact:
    fact: Fact = {"kind": "array", "shape": [int(each) for each in value.shape], "dtype": str(value.dtype)}
    if search and value.dtype.kind == "f":
        fact |= _oddities(value, sys.modules["numpy"])
    elif search and value.dtype.kind == "i":
        fact |= _span(value)
    return fact


def _span(value: Any) -> Fact:
    """The least and the greatest of whole numbers, which may be indices."""
    size = value.numel() if hasattr(value, "numel") else value.size
    if not 0 < size <= _LOOKED_AT:
        return {}
    try:
        return {"span": [int(value.min()), int(value.max())]}
    except Exception:  # a GPU that has failed answers nothing more
        return {}


def _oddities(value: Any, library: Any) -> Fact:
    """Whether there are NaN, infinite or negative elements."""
    size = value.numel() if hasattr(value, "numel") else value.size
    if size > _LOOKED_AT:
        return {"unsearched": True}
    if not size:
        return {}
    try:
        told = {
            "nan": bool(library.isnan(value).any()),
            "inf": bool(library.isinf(value).any()),
            "negative": bool((value < 0).any()),
        }
    except Exception:  # a GPU that has failed answers nothing more
        return {"unsearched": True}
    return {name: True for name, yes in told.items() if yes}


def finite(fact: Fact) -> str:
    """Whether all elements of a tensor or an array are: yes, NaN, inf; ? where that was not looked at."""
    if fact.get("nan") or fact.get("inf"):
        return "NaN" if fact.get("nan") else "inf"
    return "?" if fact.get("unsearched") else "yes"


def _ops(node: Any) -> list[str]:
    """The names of the graph's nodes, from the tensor back: what it was computed by."""
    names: dict[str, None] = {}
    ahead, seen = deque([node]), 0
    while ahead and seen < _NODES:
        each = ahead.popleft()
        seen += 1
        names[each.name().removesuffix("0").removesuffix("1").removesuffix("Backward")] = None
        ahead.extend(child for child, _ in each.next_functions if child is not None)
    return list(names)


def _collection(value: Any, deep: bool) -> Fact:
    fact: Fact = {"kind": "collection", "type": type(value).__name__, "length": len(value)}
    if isinstance(value, dict):
        fact["keys"] = [key[:40] for key in list(value)[:12] if isinstance(key, str)]
        told = [fact_of(each, deep=False, search=False) or {"kind": "other"} for each in list(value.values())[:5]]
        fact["values"] = sorted({each["kind"] for each in told})
    elif deep and value and not isinstance(value, set):
        first = (value[place] for place in range(min(len(value), 5)))
        fact["items"] = [fact_of(each, deep=False) or {"kind": "other", "type": type(each).__name__} for each in first]
        if _keeps_graph(value):
            fact["graph"] = True
    return fact


def _keeps_graph(rows: Any) -> bool:
    """Whether the newest rows, or their parts, are tensors with a graph."""
    newest = [rows[place] for place in range(max(0, len(rows) - 2), len(rows))]
    parts = [part for row in newest for part in (row if type(row) in (tuple, list) else (row,))][:16]
    return any(is_tensor(each) and each.grad_fn is not None for each in parts)


def _network(value: Any, search: bool) -> Fact:
    weights = list(value.parameters())
    fact: Fact = {
        "kind": "network",
        "type": type(value).__name__,
        "tensors": len(weights),
        "parameters": sum(int(each.numel()) for each in weights),
        "training": bool(value.training),
    }
    if weights:
        fact["device"], fact["dtype"] = str(weights[0].device), str(weights[0].dtype).removeprefix("torch.")
        fact["shapes"] = [[int(each) for each in weight.shape] for weight in weights[:_INSIDE]]
    if search:
        torch = torch_of()
        fact["nonfinite"] = sum(1 for each in weights if _oddities(each.detach(), torch).keys() & {"nan", "inf"})
    return fact


def _environment(value: Any) -> Fact:
    held = attributes(value)
    fact: Fact = {"kind": "environment", "type": type(value).__name__, "wrapper": "env" in held}
    fact["layers"] = layers_of(value, attributes)
    if agents := agents_of(held):
        fact["agents"] = agents
    for name in _SPACES:
        space = space_of(value, name)
        if space is not None:
            fact[name] = {"type": type(space).__name__, "shape": getattr(space, "shape", None), "told": _told(space)}
            shape = fact[name]["shape"]
            fact[name]["shape"] = None if shape is None else [int(each) for each in shape]
    return fact


def _told(space: Any) -> str:
    return " ".join(str(space).split())[:80]


def space_of(env: Any, name: str) -> Any:
    """A space of an environment. Wrappers give it by a property of the library, which is safe to ask."""
    held = attributes(env)
    if name in held:
        return held[name]
    for each in type(env).__mro__:
        if name in vars(each):
            safe = each.__module__.split(".")[0] in _LIBRARY_ENVS or not isinstance(vars(each)[name], property)
            return getattr(env, name, None) if safe else None
    return None


# ── one frame ───────────────────────────────────────────────────────────────────────────────────────────────────────


def facts_of(frame: FrameType, named: Mapping[str, Any]) -> dict[str, Fact]:
    """Of the names in the line that failed first, then of the other local names, then of what `self` holds."""
    told: dict[str, Fact] = {}
    for name, value in _interesting(frame, named):
        if len(told) >= _MOST:
            break
        if name not in told and (fact := fact_of(value)) is not None:
            told[name] = fact
    return told


def _interesting(frame: FrameType, named: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from named.items()
    everything = {
        name: value for name, value in frame.f_locals.items() if not name.startswith("__") and _answers(value)
    }
    # Tensors before numbers: a script's top level holds all of its settings.
    for numbers in (False, True):
        for name, value in everything.items():
            if (value is None or isinstance(value, bool | int | float)) is numbers:
                yield name, value
    for name, value in everything.items():
        if (
            is_module(value)
            or isinstance(value, type | ModuleType)
            or kind_of(value) in ("optimizer", "space", "distribution")
        ):
            continue
        for held, inner in list(attributes(value).items())[:_INSIDE]:
            if _answers(inner) and (is_tensor(inner) or is_array(inner) or kind_of(inner)):
                yield f"{name}.{held}", inner


def _answers(value: Any) -> bool:
    try:
        isinstance(value, int)
    except Exception:  # a proxy whose object is gone
        return False
    return True


def owner_of(frame: FrameType) -> Any:
    """The object whose method a frame is; None for a function."""
    code = frame.f_code
    if not code.co_argcount or not code.co_varnames:
        return None
    first = frame.f_locals.get(code.co_varnames[0])
    method = getattr(type(first), code.co_name, None) if first is not None else None
    return first if method is not None else None


def action_of(frame: FrameType) -> Any:
    """What a method was given first: for step(), the action."""
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[1]) if code.co_argcount > 1 else None


def contained(env: Any, action: Any) -> bool | None:
    """Whether the action is one of the environment's action space; None where that cannot be told."""
    space = space_of(env, "action_space")
    if kind_of(space) != "space":
        return None
    try:
        if is_array(action) and action.dtype.kind == "f" and getattr(space.dtype, "kind", "") == "f":
            action = action.astype(space.dtype)  # a space of float32 refuses float64, environments do not
        if type(action) in (float, list) and type(space).__name__ == "Box":
            action = sys.modules["numpy"].asarray(action, dtype=space.dtype)  # the space would warn, and do the same
        return bool(space.contains(action))
    except Exception:
        return None
