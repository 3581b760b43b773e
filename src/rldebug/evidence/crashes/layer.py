"""The layer of a network that was given what it cannot take, and whether it was fed from outside the network."""

from __future__ import annotations

from types import FrameType
from typing import Any

from rldebug.evidence.crashes.facts import Fact, action_of, fact_of, is_module, is_tensor


def layer_of(frames: list[FrameType]) -> Fact | None:
    """The innermost layer of torch.nn that was being called, what it was given, and whether it comes first."""
    layer: Any = None
    given: Any = None
    top: Any = None
    handed: list[Any] = []
    for frame in frames:
        module = frame.f_globals.get("__name__", "")
        if module == "torch.nn.modules.module" and frame.f_code.co_name == "_call_impl" and top is None:
            top = frame.f_locals.get("self")
            handed = [*frame.f_locals.get("args", ()), *frame.f_locals.get("kwargs", {}).values()]
        if module.startswith("torch.nn.modules.") and frame.f_code.co_name == "forward":
            layer, given = frame.f_locals.get("self"), action_of(frame)
    if layer is None or getattr(layer, "weight", None) is None:
        return None
    fact: Fact = {
        "type": type(layer).__name__,
        "top": type(top).__name__,
        "weight": fact_of(layer.weight, search=False),
        "input": fact_of(given) or {"kind": "other", "type": type(given).__name__},
        "first": _comes_first(layer, given, top, handed),
        "handed": [
            fact_of(each, search=False) or {"kind": "other", "type": type(each).__name__} for each in handed[:4]
        ],
    }
    return fact


def _comes_first(layer: Any, given: Any, top: Any, handed: list[Any]) -> bool:
    """By what it was given, what the whole network was given; else by its place among the layers with weights."""
    if layer is top or not is_tensor(given) or any(given is each for each in handed):
        return True
    tensors = [each for each in handed if is_tensor(each)]
    if any(each.untyped_storage().data_ptr() == given.untyped_storage().data_ptr() for each in tensors):
        return True  # flattened or with another axis
    widths = [each.shape[-1] for each in tensors if each.ndim]
    if len(widths) > 1 and given.ndim and given.shape[-1] == sum(widths):
        return True  # observation and action side by side
    layers = [each for each in top.modules() if getattr(each, "weight", None) is not None] if is_module(top) else []
    return bool(layers) and layers[0] is layer
