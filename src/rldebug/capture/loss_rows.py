"""The numbers of one piece of a loss, a row each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from rldebug.capture.loss_forms import is_one_hot
from rldebug.capture.loss_mark import Clip
from rldebug.capture.loss_nodes import LAYERS, VIEWS, Node, base_name, dimension, saved, shape_of
from rldebug.capture.loss_path import Path, Piece, as_rows, numpy_of
from rldebug.capture.loss_values import Values

Array = npt.NDArray[Any]


@dataclass
class Rows:
    kind: str
    op: str
    arrays: dict[str, Array] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    attached: dict[str, bool] = field(default_factory=dict)
    clip: Clip | None = None
    nested: str = ""
    inverted: bool = False
    family: str = ""
    source: Node | None = None  # the prediction, the log-prob: what the networks beneath belong to
    at: int = 0  # which of its outputs
    target: Node | None = None  # a target that carries a graph


_QUANTILES = 4  # numbers for each action, at the least


def put(rows: Rows, name: str, value: Tensor | None, path: Path, room: int) -> None:
    if value is None:
        return
    try:
        moved = as_rows(value, path)
        if moved is not None:
            rows.arrays[name] = numpy_of(moved, room)
    except Exception:  # shapes that do not go together after all
        pass


def put_known(rows: Rows, name: str, piece: Piece, values: Values, room: int) -> None:
    """The value of the piece's own node: exactly, or but for a constant that was added."""
    value = values.of(piece.node, piece.output)
    if value is None:
        value, name = values.of(piece.node, piece.output, loose=True), f"{name}_up_to_constant"
    put(rows, name, value if value is None or piece.mark.sign > 0 else -value, piece.path, room)


def put_choice(rows: Rows, source: Node | None, at: int, path: Path, values: Values, room: int) -> None:
    """Which output was chosen: the action of a Q-value."""
    for _ in range(12):
        if source is None:
            return
        name = base_name(source)
        under = source.next_functions
        if name in ("Max", "Min") and (found := saved(source, "indices")) is not None:
            put(rows, "argmax" if name == "Max" else "argmin", found, path, room)
            return
        chosen = choice_of(source, at)
        if chosen is not None:
            put(rows, "index", chosen, path, room)
            return
        if name not in VIEWS:
            return
        path = path.but(views=(*path.views, (source, at)))
        source, at = under[0]


def choice_of(node: Node, at: int = 0, *, sure: bool = False) -> Tensor | None:
    """The index by which a node chose one of several outputs per row, in the shape of its result.

    Of a vector, an index may also choose the row: unless it is sure that these are outputs, they must be of one row.
    """
    name = base_name(node)
    under = node.next_functions
    whole = shape_of(*under[0]) if under and under[0][0] is not None else ()
    shape = shape_of(node, at)
    found: Any = None
    if name in ("Gather", "TakeAlongDim"):
        found = saved(node, "index")
    elif len(whole) == 1 and name in ("Index", "Select") and not (sure or _is_one_row(node)):
        return None
    elif name == "Index":
        indices = saved(node, "indices")
        if indices is not None and len(indices) == len(whole) and isinstance(indices[-1], Tensor) and len(whole) > 0:
            found = indices[-1] if indices[-1].dtype != torch.bool else None
        elif indices is not None and len(indices) == 2 and len(whole) == 3 and whole[-1] >= _QUANTILES:
            # Several numbers for each action: those of one action.
            found = indices[-1] if _each_row(indices[0], whole[0]) else None
        if isinstance(found, Tensor) and len(shape) == 2 and len(whole) == 3 and tuple(found.shape) == shape[:1]:
            found = found.unsqueeze(1).expand(shape)
    elif name == "Select" and math.prod(shape) == 1 and whole and whole[-1] > 1:
        # Of a whole batch one column is a head, not an action.
        if dimension(saved(node, "dim") or 0) % len(whole) == len(whole) - 1:
            found = torch.full(shape, dimension(saved(node, "index")) % whole[-1], device="cpu")
    elif name in ("NllLoss", "NllLoss2D"):
        found = saved(node, "target")
    elif name == "Sum" and under[0][0] is not None and base_name(under[0][0]) == "Mul":
        found = from_mask(under[0][0])
    elif name == "Mul":
        found = from_mask(node)
    if not isinstance(found, Tensor):
        return None
    return found if tuple(found.shape) == shape or found.numel() != math.prod(shape) else found.reshape(shape)


def _each_row(index: Any, rows: int) -> bool:
    return isinstance(index, Tensor) and index.dtype == torch.int64 and index.tolist() == list(range(rows))


def _is_one_row(node: Node | None) -> bool:
    """The layer beneath was called on a single observation; or it is a table of values."""
    for _ in range(24):
        if node is None:
            return False
        name = base_name(node)
        if name in LAYERS:
            return shape_of(node)[:1] == (1,)
        if name == "AccumulateGrad":
            return True
        node = next((each for each, _ in node.next_functions if each is not None), None)
    return False


def from_mask(node: Node) -> Tensor | None:
    under = node.next_functions
    if sum(each is not None for each, _ in under) != 1:
        return None
    mask = saved(node, "other" if under[0][0] is not None else "self")
    if not isinstance(mask, Tensor) or mask.dim() < 1 or mask.shape[-1] < 2:
        return None
    return mask.to(torch.float32).argmax(-1) if is_one_hot(mask) else None


def sign_of(name: str, place: int) -> float:
    return {"Add": (1.0, 1.0), "Sub": (1.0, -1.0), "Rsub": (-1.0, 1.0)}[name][place]


def is_output(node: Node | None) -> bool:
    """Straight out of a network, but for views and the choice of an action."""
    for _ in range(24):
        if node is None:
            return False
        name = base_name(node)
        if name in LAYERS or name == "AccumulateGrad" or name.startswith("own:"):
            return True
        if (
            name in VIEWS
            or name in ("Relu", "Tanh", "Sigmoid", "Softplus")
            or (name == "Sum" and base_name(node.next_functions[0][0]) == "Mul")
        ):
            node = node.next_functions[0][0]
        elif name == "Mul" and sum(each is not None for each, _ in node.next_functions) == 1:
            other = saved(node, "self" if node.next_functions[0][0] is None else "other")
            if not isinstance(other, Tensor) or other.numel() == 1:
                return False  # γ·q
            node = next(each for each, _ in node.next_functions if each is not None)
        else:
            return False
    return False
