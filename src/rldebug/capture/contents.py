"""What lies in an object that is saved or was loaded: tensors, arrays, numbers, networks, states of optimizers.

A bounded walk that reads and never calls: no property, no `__getattr__`, no method of the user's.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

_ITEMS = 20_000
_DEEP = 12
_SHAPES = 16
_NAMED = 512
_FEW = 8  # numbers at the head of a tensor that tell it from another of its shape
_NOT_ENTERED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)

Signature = tuple[Any, ...]


@dataclass
class Contents:
    tensors: list[tuple[str, Tensor]] = field(default_factory=list)  # with the key of the top level they lie under
    arrays: list[tuple[str, Any]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    networks: list[nn.Module] = field(default_factory=list)
    optimizers: list[Optimizer] = field(default_factory=list)
    optimizer_states: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    dicts: list[dict[Any, Any]] = field(default_factory=list)  # every one met, the outermost first
    keys: list[str] = field(default_factory=list)
    whole: bool = True  # False: there was more than is looked at

    def pointers(self) -> set[int]:
        return {pointer for _, each in self.tensors if (pointer := place_of(each))}

    def signatures(self) -> set[Signature]:
        """Of tensors and arrays: a copy is found by its shape and first numbers."""
        found = {signature for _, each in self.tensors if (signature := signature_of(each)) is not None}
        for _, array in self.arrays:
            if array.dtype.kind in "fiu" and array.size:
                head = array
                while head.ndim > 1:
                    head = head[0]
                found.add((tuple(array.shape), *(float(each) for each in head.reshape(-1)[:_FEW])))
        return found


def contents_of(thing: Any) -> Contents:
    found = Contents()
    if isinstance(thing, dict):
        found.keys = [str(each)[:60] for each in list(thing)[:64]]
    seen: set[int] = set()
    todo: list[tuple[Any, str, int]] = [(thing, "", 0)]
    looked = 0
    while todo:
        value, key, deep = todo.pop()
        looked += 1
        if looked > _ITEMS:
            found.whole = False
            break
        if isinstance(value, Tensor):
            found.tensors.append((key, value))
        elif isinstance(value, np.ndarray):
            if value.dtype == object:
                found.whole = False  # a replay buffer of objects: it is not worth the walk
            found.arrays.append((key, value))
        elif isinstance(value, (bool, str, bytes)) or value is None:
            continue
        elif isinstance(value, (int, float, np.number)):
            if len(found.numbers) < 1024 and not isinstance(value, np.complexfloating):
                found.numbers.append(float(value))
        elif id(value) in seen:
            continue
        elif deep > _DEEP:
            found.whole = False
        else:
            seen.add(id(value))
            inside = _inside(value, found, key)
            todo.extend((each, key or name, deep + 1) for name, each in reversed(inside))
    return found


def _inside(value: Any, found: Contents, key: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        found.dicts.append(value)
        if "param_groups" in value and "state" in value:
            found.optimizer_states.append((key, value))
        return [(str(name)[:60], each) for name, each in list(value.items())[:_ITEMS]]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [("", each) for each in list(value)[:_ITEMS]]
    if isinstance(value, _NOT_ENTERED):
        return []
    if isinstance(value, nn.Module):
        found.networks.append(value)
    elif isinstance(value, Optimizer):
        found.optimizers.append(value)
    own = getattr(type(value), "__dict__", None) is not None and _attributes(value)
    return [(str(name), each) for name, each in own.items()] if own else []


def _attributes(value: Any) -> dict[str, Any] | None:
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return own if isinstance(own, dict) else None


def place_of(tensor: Tensor) -> int:
    """Where its numbers lie; 0 where that cannot be said."""
    try:
        return tensor.data_ptr() if tensor.numel() else 0
    except (RuntimeError, NotImplementedError):
        return 0


def signature_of(tensor: Tensor) -> Signature | None:
    """Equal for a copy, on whatever device."""
    try:
        with torch.no_grad():
            head = tensor.detach()
            while head.dim() > 1:
                head = head[0]
            numbers = head[:_FEW] if head.dim() else head.reshape(1)
            return (tuple(tensor.shape), *(float(each) for each in numbers.tolist()))
    except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
        return None


def same_number(value: float, numbers: Iterable[float]) -> bool:
    """Whether a parameter of one element was saved as a plain number: itself, or its exponential."""
    candidates = (value, float(np.exp(np.clip(value, -50, 50))))
    return any(abs(each - one) <= 1e-6 * max(1.0, abs(one)) for each in numbers for one in candidates)


def held_of(optimizer: Optimizer, found: Contents, pointers: set[int], copies: set[Signature]) -> dict[str, Any]:
    """How much of an optimizer is in there: its state, and the weights that it trains."""
    weights = [each for group in optimizer.param_groups for each in group["params"]]
    lacking = [place for place, each in enumerate(weights) if not has_weight(each, found, pointers, copies)]
    state = [
        one
        for each in optimizer.state.values()
        if isinstance(each, dict)
        for key, one in each.items()
        if isinstance(one, Tensor) and key != "step"
    ]
    held = sum(place_of(one) in pointers or signature_of(one) in copies for one in state)
    return {
        "state": held,
        "of": len(state),
        "steps": max((_steps(each) for each in optimizer.state.values() if isinstance(each, dict)), default=0),
        "whole": any(each is optimizer for each in found.optimizers),
        "weights": len(weights),
        "lacking": lacking if len(lacking) <= _NAMED else None,  # places among the weights; None: more than are told
        "lacks": len(lacking),
        "shapes": [list(weights[place].shape) for place in lacking[:_SHAPES]],
    }


def _steps(state: dict[Any, Any]) -> int:
    """As it counts them itself; 0 where it does not, or where one would have to wait for a device."""
    count = state.get("step", 0)
    if isinstance(count, Tensor) and (count.device.type != "cpu" or count.numel() != 1):
        return 0
    return int(count) if isinstance(count, (int, float, Tensor)) else 0


def has_weight(weight: Tensor, found: Contents, pointers: set[int], copies: set[Signature]) -> bool:
    """Generously: the tensor itself, a copy, a copy in half precision, a plain number."""
    if place_of(weight) in pointers:
        return True
    signature = signature_of(weight)
    if signature is None or signature in copies:
        return True
    if weight.numel() == 1 and same_number(float(weight.detach().reshape(())), found.numbers):
        return True
    return any(
        each[0] == signature[0] and len(each) == len(signature) and np.allclose(each[1:], signature[1:], rtol=0.01)
        for each in copies
    )


def given_itself(module: nn.Module, tensors: dict[str, Any]) -> bool:
    """Whether a network is given its own tensors: nothing is copied, however different the weights once were."""
    any_tensor = False
    for name, given in tensors.items():
        if not isinstance(given, Tensor) or not given.numel():
            continue
        *path, last = str(name).split(".")
        part: Any = module
        for each in path:
            part = getattr(part, "_modules", {}).get(each)
        own = getattr(part, "_parameters", {}).get(last)
        if own is None:
            own = getattr(part, "_buffers", {}).get(last)
        if own is None or place_of(own) != place_of(given):
            return False  # the first tensor settles it for a target network that is brought up to date
        any_tensor = True
    return any_tensor
