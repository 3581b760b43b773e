"""Arrays as a program has them: to canonical axes and back, whatever their container, dtype and device are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from rldebug.oracles.layout import Unreadable, unpack
from rldebug.oracles.oracle import Array, Kind


class Misfit(Exception):
    """An array has another shape than its meaning allows: says which, and what was expected."""


def canonical(value: Any, axes: str, kind: Kind, layout: str) -> Any:
    """Along canonical axes. A function that works element by element takes more layouts than the one that fits first,
    so the array's own rank decides: (T,) is one environment, and what lies behind (T, B) is more of them."""
    array = unpack(value)
    if isinstance(array, Unreadable):
        raise Misfit(f"{array.said} is no array of numbers")
    if not axes:
        if array.size != 1:
            raise Misfit(f"shape {array.shape}, expected a number")
        number = array.reshape(()).item()
        return int(number) if kind == "int" and float(number).is_integer() else number
    array = _arranged(array, axes, layout)
    if kind == "flag":
        return array != 0
    return array.astype(np.int64) if kind == "int" else np.asarray(array, dtype=np.float64)


def _arranged(array: Array, axes: str, layout: str) -> Array:
    environments_first = layout.startswith("(B, T")
    behind = len(axes) - (2 if axes[:2] in ("TB", "UB") else 1)
    over = array.ndim - behind
    if axes[:2] in ("TB", "UB"):
        if over == 1:
            return np.expand_dims(array, 1)
        if over >= 2 and (over == 2 or behind == 0):
            array = np.swapaxes(array, 0, 1) if environments_first else array
            return array if over == 2 else array.reshape(len(array), -1)
    elif axes in ("T", "U", "B"):
        return array.reshape(-1)
    elif axes[0] == "N":
        if over == 0:
            return array[None]
        if over >= 1:
            return array.reshape(-1, *array.shape[array.ndim - behind :])
    elif over == 1:
        return array
    raise Misfit(f"shape {array.shape}, expected axes {', '.join(axes)}")


def agree(given: Mapping[str, tuple[Any, str]]) -> tuple[dict[str, Any], dict[str, int]]:
    """All with the same number of steps, environments and rows, where one may stand for all; and these sizes."""
    sizes: dict[str, int] = {}
    for value, axes in given.values():
        for axis, length in zip(axes, np.shape(value), strict=True):
            if axis == "U":
                axis, length = "T", length - 1
            sizes[axis] = max(sizes.get(axis, 0), int(length))
    sizes["U"] = sizes.get("T", 0) + 1
    fitted: dict[str, Any] = {}
    for name, (value, axes) in given.items():
        wanted = tuple(sizes[axis] for axis in axes)
        if axes and np.shape(value) != wanted:
            try:
                if "T" in axes or "U" in axes:
                    raise ValueError
                value = np.broadcast_to(value, wanted).copy()
            except ValueError:
                raise Misfit(f"{name} has shape {np.shape(value)}, expected {wanted}") from None
        fitted[name] = value
    return fitted, sizes


def laid_back(array: Array, axes: str, shape: Sequence[int], layout: str) -> Array | None:
    """From canonical axes to a shape that a program has; None where they have nothing to do with one another."""
    shape = tuple(shape)
    if array.size != int(np.prod(shape)):
        return None
    if array.ndim == len(axes) and axes[:2] in ("TB", "UB") and layout.startswith("(B, T"):
        behind = len(axes) - 2
        if len(shape) - behind > 1:
            array = np.swapaxes(array.reshape(shape[1], shape[0], *shape[2:]), 0, 1)
    return array.reshape(shape)


def shape_of(value: Any) -> tuple[int, ...]:
    array = unpack(value)
    return () if isinstance(array, Unreadable) else array.shape


def like(array: Array, template: Any) -> Any:
    """In the container, of the type and on the device of the template."""
    if isinstance(template, torch.Tensor):
        dtype = template.dtype if template.is_floating_point() else torch.get_default_dtype()
        return torch.as_tensor(array, dtype=dtype, device=template.device)
    if isinstance(template, (np.ndarray, np.generic)):
        dtype_ = template.dtype if np.issubdtype(template.dtype, np.floating) else np.dtype(np.float64)
        made = array.astype(dtype_)
        return made if isinstance(template, np.ndarray) else made[()]
    if isinstance(template, (list, tuple)):
        if template and isinstance(template[0], (torch.Tensor, np.ndarray, np.generic)):
            return type(template)(like(each, template[0]) for each in array)
        return type(template)(array.tolist())
    return array.item() if array.ndim == 0 else array


def copied(value: Any) -> Any:
    """A copy that may be written into; gradients run through it."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(copied(each) for each in value)
    return value


def overwritten(held: Any, value: Any) -> bool:
    """Write into an array that others may hold too; False where that cannot be done."""
    if isinstance(held, torch.Tensor) and isinstance(value, torch.Tensor) and held.shape == value.shape:
        with torch.no_grad():
            held.copy_(value)
        return True
    if isinstance(held, np.ndarray) and np.shape(value) == held.shape:
        held[...] = value
        return True
    if isinstance(held, list) and isinstance(value, list):
        held[:] = value
        return True
    return False
