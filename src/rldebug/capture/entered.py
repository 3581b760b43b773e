"""What reaches the first layer of a network that changes its input itself: `self.body(x / self.scale)`.

The loss knows what its layers were given, the call knows which observations came in. Where a network divides, centres
or picks elements within its own forward pass, both are the same rows in other numbers. What a layer is given that
carries no graph is no output of another layer: it is the input, changed; and has a row for each row of the call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rldebug.capture.fingerprints import row_fingerprints
from rldebug.capture.matching import ROWS, to_numpy
from rldebug.capture.place import users_line

_LAYERS = 4  # of one call: an actor and a critic with bodies of their own, each with its input
_KEPT = 1 << 16
_CELLS = 1 << 18
_ENOUGH = 0.5  # of the rows
_UNCLEAR = -2
_PICTURES = 4  # axes of a batch of them


class Entered:
    def __init__(self) -> None:
        self._here = threading.local()
        self._ids: dict[int, int] = {}

    def clear(self) -> None:
        """At the end of an audit."""
        self._here = threading.local()
        self._ids.clear()

    def begin(self) -> None:
        """A call from outside any other. Losses know inputs of layers only where gradients are on."""
        self._here.given = [] if torch.is_grad_enabled() else None
        self._here.lines = {}

    def layer(self, module: nn.Module, args: Any) -> None:
        """A module within the call is about to run."""
        given: list[Tensor] | None = getattr(self._here, "given", None)
        if given is None or len(given) >= _LAYERS or not args or module._modules or not module._parameters:
            return
        first = args[0]
        if (
            isinstance(first, Tensor)
            and first.dim()
            and not first.requires_grad
            and all(each is not first for each in given)
        ):
            given.append(first)
            if first.dim() == _PICTURES:
                self._here.lines[id(first)] = users_line(3)

    def end(self, inputs: Sequence[Tensor], rows: NDArray[np.int64], alike: Callable[[int, int], bool]) -> None:
        """The call came in with these rows; `alike`: whether two of them are the same observation."""
        given: list[Tensor] = getattr(self._here, "given", None) or []
        self._here.given = None
        if not len(rows) or not (rows >= 0).any():
            return
        sizes = {len(rows)} if inputs[0].dim() <= 2 else {len(inputs[0])}  # axes that were swapped are other rows
        for each in given:
            if any(each is one or each.data_ptr() == one.data_ptr() for one in inputs):
                continue  # as it came in: found by the observation itself
            if len(rows) > 1 and len(each) not in sizes:
                continue
            matrix = _matrix(each, len(rows))
            if matrix is not None:
                self._remember(row_fingerprints(matrix), rows.tolist(), alike)

    def axes(self, inputs: Sequence[Tensor]) -> dict[str, Any]:
        """Of pictures with their channels last that reach a layer with channels first: whether axes were "moved" for
        that, or "kept": the same numbers cut up anew; and the line. Nothing where neither can be told. To be asked
        before `end`."""
        for each in getattr(self._here, "given", None) or []:
            for one in inputs:
                if each.dim() == one.dim() == _PICTURES and each.shape == one.movedim(-1, 1).shape != one.shape:
                    height, width, channels = one.shape[1:]
                    if 1 < channels < min(height, width) and one.numel() <= _CELLS:
                        how = _axes(one.detach(), each.detach())
                        line = self._here.lines.get(id(each))
                        return {"axes": how, "axes_line": line} if how else {}
        return {}

    def _remember(self, prints: list[int], rows: list[int], alike: Callable[[int, int], bool]) -> None:
        ids = self._ids
        if len(ids) > _KEPT:
            ids.clear()
        for fp, row in zip(prints, rows, strict=True):
            before = ids.get(fp, row)
            if before != row and row >= 0 and (before < 0 or not alike(before, row)):
                row = _UNCLEAR  # two observations that look the same from there on cannot be told apart
            ids[fp] = row

    def find(self, given: Tensor) -> NDArray[np.int64] | None:
        if not self._ids or given.dim() < 1 or given.numel() > _CELLS:
            return None
        array = to_numpy(given)
        if array is None:
            return None
        for count in dict.fromkeys((len(array), array.size // max(array.shape[-1], 1))):
            prints = row_fingerprints(array.reshape(count, -1)[:ROWS])
            found = np.array([self._ids.get(each, -1) for each in prints], dtype=np.int64)
            if len(found) and (found >= 0).mean() >= _ENOUGH:
                return np.maximum(found, -1)
        return None


def _axes(came: Tensor, given: Tensor) -> str:
    """Scaled and shifted or not. Where both fit, as with pictures of one colour, neither is told."""
    kept = _fits(came.reshape(given.shape), given)
    turned = _fits(came.movedim(-1, 1), given)
    return "" if kept == turned else "kept" if kept else "moved"


def _fits(came: Tensor, given: Tensor) -> bool:
    x, y = came.double(), given.double()
    span = float(x.max() - x.min())
    if not span > 0 or not bool(torch.isfinite(y).all()):
        return False
    scaled = (x - x.min()) / span * (y.max() - y.min()) + y.min()
    return bool(((scaled - y).abs() <= 1e-5 * (y.max() - y.min())).all())


def _matrix(tensor: Tensor, count: int) -> NDArray[Any] | None:
    if not tensor.is_floating_point() or tensor.numel() > _CELLS or tensor.numel() % count or tensor.dim() < 1:
        return None
    array = to_numpy(tensor)
    return None if array is None else array.reshape(count, -1)[:ROWS]


__all__ = ["Entered"]
