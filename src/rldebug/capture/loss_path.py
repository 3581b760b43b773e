"""The way from the loss down to a node: signs, numbers, means, weights and views that were taken off."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rldebug.capture.loss_mark import Mark
from rldebug.capture.loss_nodes import Node, apply_view, base_name, dimension, dimensions, saved, shape_of

Array = npt.NDArray[Any]
View = tuple[Node | None, Any]  # (node, which output) of a view; (None, shape) of a broadcast


@dataclass
class Path:
    """What was taken off on the way from the loss to here."""

    coefficient: float = 1.0  # product of all numbers, without the 1/N of means
    scale: float = 1.0  # with them
    reductions: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()  # of the rows, as the innermost reduction saw them
    views: tuple[View, ...] = ()  # between the rows and here, outermost first
    weights: tuple[tuple[Tensor, int], ...] = ()  # (factor per row, how many views lie above it)
    attached: tuple[Node, ...] = ()  # weights that carry a graph
    factors: tuple[
        float, ...
    ] = ()  # single numbers multiplied in below the last reduction: a weight, where steps are listed
    outer: tuple[float, ...] = ()  # those above it
    divisors: tuple[float, ...] = ()
    nested: str = ""
    shifted: bool = False  # data was added below the rows, and is kept nowhere
    mixed: int = 0  # a number for those that were added to each other row by row
    listed: bool = False  # one of several steps that were stacked
    pooled: int = 0  # weights per row that met a single number, and only enter through their sum
    lost: bool = False  # a weight could not be followed: rows and weights no longer belong together

    def times(self, number: float) -> Path:
        return self.but(coefficient=self.coefficient * number, scale=self.scale * number)

    def but(self, **changes: Any) -> Path:
        """A copy with changes. (`dataclasses.replace` takes several times as long.)"""
        new: Path = object.__new__(Path)
        new.__dict__.update(self.__dict__)
        new.__dict__.update(changes)
        return new


@dataclass(slots=True)
class Piece:
    kind: str  # the tag of its mark; "clipped" (a surrogate), "value-clip", or "?" where nothing is known
    node: Node
    output: int
    mark: Mark
    path: Path
    other: dict[str, Any] = field(default_factory=dict)


Next = list[tuple[Node | None, int, Path]]  # nodes to go on with


def broadcast(path: Path, shape: tuple[int, ...], under: Node | None, output: int) -> Path:
    if under is None or shape_of(under, output) == shape:
        return path
    return path.but(views=(*path.views, (None, shape)))


def constant_of(node: Node, place: int) -> Tensor | None:
    found = saved(node, ("self", "other")[place])
    if found is None or isinstance(found, Tensor):
        return found
    return torch.as_tensor(float(found))


def weighted(path: Path, other: Tensor, inverse: bool, above: int) -> Path:
    if other.numel() == 1:
        number = float(other.item())
        if inverse:
            path = path.but(divisors=(*path.divisors, number))
            number = 1.0 / number if number else math.inf
            return path.times(number)
        return path.times(number).but(factors=(*path.factors, number))
    weight = other.reciprocal() if inverse else other
    return path.but(weights=(*path.weights, (weight, above)))


def passes(node: Node, mark: Mark) -> bool:
    """Views are gone through, but for the one that picks the action: it belongs to the log-prob."""
    return not (mark.tag in ("logp", "prob") and mark.of is node)


def collapsed(path: Path, shape: tuple[int, ...]) -> Path:
    """A single number that was multiplied by a weight per row: the weights only enter through their sum."""
    if math.prod(shape) != 1 or math.prod(path.shape) == 1 or (None, path.shape) not in path.views or path.lost:
        return path
    count = math.prod(path.shape)
    if not path.weights:
        # Added to every row, and the rows were averaged, or summed, afterwards: once, or as often as there are rows.
        averaged = bool(path.reductions) and path.reductions[-1] == "mean"
        on = path.but(scale=path.scale * count, reductions=path.reductions[:-1])
        return on if averaged else on.but(coefficient=path.coefficient * count)
    whole = _product([each for each, _ in path.weights], path.shape)
    total = float(whole.sum().item())
    mask = bool(((whole == 0) | (whole == 1)).all())
    on = path.times(total).but(weights=(), coefficient=path.coefficient * total / count)
    return on if mask or bool((whole == whole.reshape(-1)[0]).all()) else on.but(pooled=count)


def _product(weights: list[Tensor], shape: tuple[int, ...]) -> Tensor:
    total = weights[0].to(torch.float64)
    for each in weights[1:]:
        total = total * each
    return total.expand(shape)


def pulled(path: Path, shape: tuple[int, ...]) -> tuple[tuple[tuple[Tensor, int], ...], bool]:
    """The weights, turned back through the views that lie above a node of this shape."""
    weights: list[tuple[Tensor, int]] = []
    for weight, above in path.weights:
        value = weight
        for node, more in path.views[above:]:
            back = _turned_back(node, more, value)
            if back is None:
                return (), True
            value = back
        weights.append((value, 0))
    return tuple(weights), False


def _turned_back(node: Node | None, more: Any, value: Tensor) -> Tensor | None:
    if node is None:
        return None
    name = base_name(node)
    inner = shape_of(*node.next_functions[0])
    if name in ("Clone", "ToCopy", "Alias"):
        return value
    if name in ("View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze"):
        return value.expand(shape_of(node, more)).reshape(inner)
    if name in ("Transpose", "T"):
        dims = (0, 1) if name == "T" else (dimension(saved(node, "dim0")), dimension(saved(node, "dim1")))
        return value.expand(shape_of(node, more)).transpose(*dims)
    if name == "Permute":
        order = [each % len(inner) for each in dimensions(saved(node, "dims"))]
        return value.expand(shape_of(node, more)).permute([order.index(each) for each in range(len(order))])
    return None


def as_rows(value: Tensor, path: Path) -> Tensor | None:
    """A value at the end of a path, moved and broadcast to the rows that the reduction saw."""
    return _carried(value, path.views, path.shape)


def own_shape(piece: Piece) -> tuple[int, ...]:
    """As it was before it was broadcast."""
    shape = shape_of(piece.node, piece.output)
    for node, output in reversed(piece.path.views):
        if node is None:
            break
        shape = shape_of(node, output)
    return shape


def weight_rows(path: Path, shape: tuple[int, ...]) -> list[Tensor]:
    found = []
    for weight, above in path.weights:
        rows = _carried(weight, path.views[:above], shape)
        if rows is not None:
            found.append(rows)
    return found


def _carried(value: Tensor, views: tuple[View, ...], shape: tuple[int, ...]) -> Tensor | None:
    current: Tensor | None = value
    if not views and tuple(value.shape) == shape:
        return value
    for node, more in reversed(views):
        if current is None:
            return None
        if node is None:
            current = current.expand(more)
        else:
            inner = shape_of(*node.next_functions[0])
            if tuple(current.shape) != inner:
                current = current.expand(inner)
            current = apply_view(node, more, current)
    if current is None:
        return None
    return current if tuple(current.shape) == shape else current.expand(shape)


def numpy_of(value: Tensor, room: int | None = None) -> Array:
    """A copy of its own: what the program does to the tensor later does not reach it."""
    value = value.detach() if value.requires_grad else value
    if room is not None:
        value = value if value.dim() == 1 else value.reshape(-1)
        value = value if len(value) <= room else value[:room]
    if value.dtype == torch.float32 and value.device.type == "cpu":
        return np.array(value.numpy())
    if value.dtype.is_floating_point:
        return np.array(value.to(torch.float32).cpu().numpy(), dtype=np.float32)
    return np.array(value.to(torch.int64).cpu().numpy(), dtype=np.int64)
