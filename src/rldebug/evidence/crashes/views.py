"""Tensors that share their memory: which of those that were sent do, and the operation that made one a view."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from rldebug.evidence.crashes.facts import Fact, fact_of, is_tensor
from rldebug.evidence.crashes.inside import Reached, walk

_MOST = 4  # that are told of one memory
_VIEWS = frozenset(
    [
        "view",
        "view_as",
        "T",
        "mT",
        "H",
        "mH",
        "t",
        "transpose",
        "swapaxes",
        "swapdims",
        "permute",
        "movedim",
        "unbind",
        "chunk",
        "split",
        "tensor_split",
        "hsplit",
        "vsplit",
        "narrow",
        "select",
        "unfold",
        "squeeze",
        "unsqueeze",
        "expand",
        "expand_as",
        "flatten",
        "unflatten",
        "reshape",
        "ravel",
        "diagonal",
        "detach",
        "data",
        "real",
        "imag",
        "as_strided",
    ]
)


def shared_in(whole: Any, names: Mapping[int, str]) -> list[Fact]:
    """The tensors, and the ends of pipes, in an object that share a memory or a file with another one in it."""
    by_memory: dict[tuple[str, int], list[Reached]] = {}
    for reached in walk(whole, opaque=True):
        if (key := _memory(reached.value)) is not None:
            by_memory.setdefault(key, []).append(reached)
    groups = [each for each in by_memory.values() if len(each) > 1]
    return [_told(each, names) for each in (groups[0][:_MOST] if groups else ())]


def _memory(value: Any) -> tuple[str, int] | None:
    try:
        if is_tensor(value) and value.device.type == "cpu" and value.numel():
            return "tensor", int(value.untyped_storage().data_ptr())
        if type(value).__module__ == "multiprocessing.connection" and isinstance(value._handle, int):
            return "pipe", value._handle
    except Exception:  # a tensor without a storage
        return None
    return None


def _told(reached: Reached, names: Mapping[int, str]) -> Fact:
    fact = fact_of(reached.value, search=False) or {"kind": "other", "type": type(reached.value).__name__}
    return fact | {"path": reached.path(names), "view": is_tensor(reached.value) and is_view(reached.value)}


def is_view(tensor: Any) -> bool:
    """Whether it is a part of a larger memory, or another way to look at the same one."""
    if tensor._base is not None:
        return True
    return bool(tensor.untyped_storage().nbytes() > tensor.numel() * tensor.element_size())


def view_operation(value: ast.expr) -> str:
    """What in an expression makes a view: `.unbind()`, `slicing`; empty where nothing is known to."""
    for node in ast.walk(value):
        if isinstance(node, ast.Subscript):
            return "slicing"
        if isinstance(node, ast.Attribute) and node.attr in _VIEWS:
            called = any(isinstance(each, ast.Call) and each.func is node for each in ast.walk(value))
            return f".{node.attr}()" if called else f".{node.attr}"
    return ""
