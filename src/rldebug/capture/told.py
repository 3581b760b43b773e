"""How things of the program are told in script.jsonl."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.capture.registry import Registry


def described(registry: Registry, name: str, module: Any) -> dict[str, Any]:
    """A module of the program, for script.jsonl: THINGS["module"]."""
    owners: dict[str, int] = {}
    own = {id(each) for each in module.parameters()}
    for key, reference in registry.optimizers.items():
        optimizer = reference()
        if optimizer is not None:
            count = sum(id(each) in own for group in optimizer.param_groups for each in group["params"])
            if count:
                owners[key] = count
    layers: dict[str, int] = {}
    last = ""
    for each in module.modules():
        if next(each.children(), None) is None:
            last = type(each).__name__
            layers[last] = layers.get(last, 0) + 1
    inside = next(
        (
            other
            for other, each in registry.living()
            if each is not module and any(part is module for part in each.modules())
        ),
        None,
    )
    parameters = list(module.parameters())
    return {
        "class": type(module).__name__,
        "label": registry.labels.get(name, ""),
        "parameters": sum(each.numel() for each in parameters),
        "tensors": len(parameters),
        "trainable": sum(each.requires_grad for each in parameters),
        "owners": owners,
        "layers": layers,
        "last": last,
        "inside": inside,
        "line": registry.lines.get(name),
        "training": module.training,
    }


def finite(value: Any) -> Any:
    """JSON knows no NaN."""
    if isinstance(value, float):
        return value if value - value == 0.0 else str(value)
    if isinstance(value, dict):
        return {str(key): finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    if isinstance(value, np.generic):
        return finite(value.item())
    return value
