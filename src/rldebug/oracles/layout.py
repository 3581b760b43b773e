"""How arrays are handed over and read back: which axis comes first, in which container, flags as numbers or bools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from rldebug.oracles.oracle import Array, Kind

Container = Literal["torch", "numpy", "list"]
CONTAINERS: tuple[Container, ...] = ("torch", "numpy", "list")

OVER_TIME = ("(T, B)", "(T,)", "(B, T)", "(T, B, 1)", "(B, T, 1)", "(T, 1)")
OVER_ROWS = ("(N,)", "(N, 1)", "one row")


def layouts_of(axes: str) -> tuple[str, ...]:
    """The layouts to try for arrays along these axes."""
    if set(axes) & set("TUB"):
        return OVER_TIME
    return OVER_ROWS if "N" in axes else ("as is",)


def suits(layout: str, sizes: Mapping[str, int]) -> bool:
    """Whether a case of this size can be laid out so: without the axis of environments, there is but one."""
    if layout in ("(T,)", "(T, 1)"):
        return sizes.get("B", 1) == 1
    return layout != "one row" or sizes.get("N", 1) == 1


def lay(array: Array, axes: str, layout: str) -> Array:
    """From canonical axes to the layout."""
    if layout == "(T,)":
        return array.squeeze(axes.index("B")) if "B" in axes else array
    if layout == "one row":
        return array.squeeze(axes.index("N")) if "N" in axes else array
    if layout in ("(B, T)", "(B, T, 1)") and len(axes) > 1 and axes[0] in "TU" and axes[1] == "B":
        array = np.swapaxes(array, 0, 1)
    if layout.endswith(", 1)") and layout != "(T, 1)" and axes and set(axes) <= set("TUBN"):
        array = array[..., None]
    return array  # (T, 1): the axis of environments, of which there is one


def unlay(array: Array, axes: str, layout: str, sizes: Mapping[str, int]) -> Array | None:
    """Back from the layout to canonical axes; None where the shape is not the one expected."""
    wanted = tuple(sizes[axis] for axis in axes)
    if layout == "(T,)" and "B" in axes:
        array = np.expand_dims(array, axes.index("B")) if array.ndim == len(axes) - 1 else array
    elif layout == "one row" and "N" in axes:
        array = np.expand_dims(array, axes.index("N")) if array.ndim == len(axes) - 1 else array
    elif axes:
        if layout.endswith(", 1)") and layout != "(T, 1)" and set(axes) <= set("TUBN"):
            if array.shape[-1:] != (1,) or array.ndim != len(axes) + 1:
                return None
            array = array[..., 0]
        if layout.startswith("(B, T") and len(axes) > 1 and array.ndim == len(axes):
            array = np.swapaxes(array, 0, 1)
    if not axes and array.size == 1:  # a loss of shape () or (1,)
        array = array.reshape(())
    return array if array.shape == wanted else None


def pack(array: Any, kind: Kind, container: Container, flags_as: str) -> Any:
    """Into the container, with the type that such arrays have there."""
    array = np.asarray(array)
    if kind == "flag":
        array = array.astype(bool) if flags_as == "bool" else array.astype(np.float64)
    if container == "torch":
        tensor = torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape).copy())
        return tensor.float() if tensor.is_floating_point() else tensor
    if container == "list":
        return array.tolist()  # a number where there is no axis
    return array.copy() if array.ndim else array[()]


@dataclass(frozen=True)
class Unreadable:
    """What a function gave back that is no array."""

    said: str


def unpack(returned: Any) -> Array | Unreadable:
    """What a function gave back, as a float64 array."""
    if isinstance(returned, torch.Tensor):
        return returned.detach().cpu().double().numpy() if returned.dtype != torch.bool else returned.cpu().numpy()
    try:
        if isinstance(returned, (list, tuple)) and returned and isinstance(returned[0], torch.Tensor):
            returned = [each.detach().cpu().numpy() for each in returned]
        array = np.asarray(returned)
        return array if array.dtype == bool else array.astype(np.float64)
    except (ValueError, TypeError):
        return Unreadable(type(returned).__name__)
