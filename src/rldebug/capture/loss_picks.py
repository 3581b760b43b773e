"""Which rows of what a network was given are those of a term.

A network is often asked about more than is learned from: the observation after the last step goes in with the others,
and `values[:-1]` is regressed. The numbers of the rows take the same way up as the numbers that the network gave.
"""

from __future__ import annotations

import math
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from rldebug.capture.loss_nodes import LAYERS, VIEWS, Node, apply_view, base_name, shape_of
from rldebug.capture.loss_path import Piece, as_rows

_DEEP = 64  # nodes between the term and the last layer
_RECURRENT = ("MkldnnRnnLayer", "CudnnRnn")
_IMAGES = ("Convolution", "ConvolutionOverrideable", "MkldnnConvolution", "CudnnConvolution")


def picked(source: Node | None, at: int, piece: Piece) -> tuple[int, npt.NDArray[Any]] | None:
    """How many rows went in, and which of them the rows of the term are; None where it is all of them, or not known."""
    way: list[tuple[Node, int]] = []
    node, at = (source, at) if source is not None else (piece.node, piece.output)
    while node is not None and base_name(node) not in LAYERS:
        if len(way) >= _DEEP:
            return None
        way.append((node, at))
        node, at = next(((each, which) for each, which in node.next_functions if each is not None), (None, 0))
    if node is None:
        return None
    shape = shape_of(node, at)
    name = base_name(node)
    leading = shape[: 1 if name in _IMAGES else 2 if name in _RECURRENT else max(len(shape) - 1, 1)]
    count = math.prod(leading)
    if not shape or count < 2:
        return None
    numbers: Tensor = torch.arange(count).reshape(*leading, *(1,) * (len(shape) - len(leading))).expand(shape)
    for each, which in reversed(way):
        moved = _up(each, which, numbers)
        if moved is None:
            return None
        numbers = moved
    rows = _as_rows(numbers, piece)
    if rows is None or rows.numel() >= count or len(torch.unique(rows)) != rows.numel():
        return None
    return count, rows.reshape(-1).numpy().copy()


_HANDS_ON = {"Addmm": 1, "Mm": 0, "Linear": 0, "MkldnnLinear": 0}  # layers that keep rows, and where those come in
_JOINED = ("Cat", "Stack")


def reordered(source: Node | None, at: int, piece: Piece) -> tuple[int, npt.NDArray[Any]] | None:
    """As picked, of a recurrent layer beneath others: time comes first in it, and may come second in the loss. None
    where the rows of the term are all of its rows, in its order."""
    way: list[tuple[Node, int]] = []
    node, at = (source, at) if source is not None else (piece.node, piece.output)
    while node is not None and base_name(node) not in _RECURRENT:
        name = base_name(node)
        if len(way) >= _DEEP or name in _JOINED or (name in LAYERS and name not in _HANDS_ON):
            return None
        way.append((node, at))
        under = node.next_functions[_HANDS_ON[name] :] if name in _HANDS_ON else node.next_functions
        node, at = next(((each, which) for each, which in under if each is not None), (None, 0))
    shape = shape_of(node, at) if node is not None else ()
    if len(shape) != 3 or min(shape[:2]) < 2:
        return None
    count = math.prod(shape[:2])
    numbers: Tensor | None = torch.arange(count).reshape(*shape[:2], 1).expand(shape)
    for each, which in reversed(way):
        assert numbers is not None
        if base_name(each) in _HANDS_ON:
            numbers = numbers[..., :1].expand(shape_of(each, which))
        else:
            numbers = _up(each, which, numbers)
        if numbers is None:
            return None
    assert numbers is not None
    rows = _as_rows(numbers, piece)
    if rows is None or rows.numel() > count or len(torch.unique(rows)) != rows.numel():
        return None
    found = rows.reshape(-1).numpy().copy()
    return None if len(found) == count and (found[1:] > found[:-1]).all() else (count, found)


def _as_rows(numbers: Tensor, piece: Piece) -> Tensor | None:
    own = shape_of(piece.node, piece.output)
    if numbers.shape != own and math.prod(own) > 1:
        numbers = numbers.expand(own)  # else it is a loss of torch, which has summed its rows up itself
    return as_rows(numbers, piece.path)


def _up(node: Node, output: int, numbers: Tensor) -> Tensor | None:
    if base_name(node) in VIEWS:
        under = shape_of(*node.next_functions[0])
        return apply_view(node, output, numbers if numbers.shape == under else numbers.expand(under))
    shape = shape_of(node, output)
    if shape == numbers.shape:
        return numbers
    if shape in (numbers.shape[:-1], (*numbers.shape[:-1], 1)):
        return numbers[..., 0].reshape(shape)  # reduced over what belongs to one row
    return numbers.expand(shape)  # raises where it does not go together
