"""What a piece of a loss is, by the mark it bears; its numbers are read by those who know the kind."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rldebug.capture.loss_mark import SQUARES
from rldebug.capture.loss_marks import Marks
from rldebug.capture.loss_nodes import VIEWS, Node, base_name, dimension, saved, shape_of
from rldebug.capture.loss_path import Piece, numpy_of
from rldebug.capture.loss_policy import log_prob_rows, policy_rows, scaled_rows
from rldebug.capture.loss_regression import regression_rows
from rldebug.capture.loss_rows import Rows, choice_of, put, put_known
from rldebug.capture.loss_values import Values

_TABLE = 1 << 20  # numbers kept of a distribution per row


def rows_of(piece: Piece, marks: Marks, values: Values, room: int) -> Rows:
    """Never raises: what cannot be read is left out."""
    try:
        return _rows_of(piece, marks, values, room)
    except Exception:
        return Rows("other", base_name(piece.node), source=piece.node)


def _rows_of(piece: Piece, marks: Marks, values: Values, room: int) -> Rows:
    kind, mark = piece.kind, piece.mark
    if kind in ("ratio", "clipped", "prob"):
        return policy_rows(piece, marks, values, room)
    if kind == "logp":
        return log_prob_rows(piece, marks, values, room)
    if kind in SQUARES:
        if mark.tag == "square" and mark.scaled:
            return scaled_rows(piece, marks, values, room)
        return regression_rows(piece, marks, values, room)
    if kind == "entropy":
        rows = Rows("entropy", "p-log-p", source=piece.node)
        put_known(rows, "entropy", piece, values, room)
        return rows
    if kind == "plogp":
        rows = Rows("entropy", "p-log-p", source=piece.node)
        value = values.of(piece.node)
        put(rows, "entropy", None if value is None else -value.sum(-1), piece.path, room)
        return rows
    if kind in ("soft", "softsum"):
        return _soft(piece, values, room)
    if kind == "kl":
        rows = Rows("other", "kl" if _is_divergence(piece, values) else "expected", source=piece.node)
        put_known(rows, "kl", piece, values, room)
        return rows
    if kind == "log":
        rows = Rows("other", "log-scale", source=piece.node)
        put_known(rows, "entropy", piece, values, room)
        return rows
    if kind == "leaf":
        rows = Rows("other", "log-scale" if marks.is_log_of_scale(piece.node) else "parameter", source=piece.node)
        put_known(rows, "output", piece, values, room)
        return rows
    if kind == "net":
        rows = Rows("output", "mean", source=piece.node, nested=piece.path.nested or piece.other.get("nested", ""))
        rows.shapes["output"] = shape_of(piece.node, piece.output)
        put_known(rows, "output", piece, values, room)
        _put_chosen(rows, piece, room)
        if base_name(piece.node) == "Mul" and not rows.nested:
            rows.op = "product"
        if marks.is_log_of_scale(piece.node):
            rows.kind, rows.op = "other", "log-scale"
        return rows
    if kind == "probs":
        return Rows("output", "expected", source=piece.node)
    return Rows("other", kind if kind in ("l2", "penalty") else base_name(piece.node), source=piece.node)


def _put_chosen(rows: Rows, piece: Piece, room: int) -> None:
    """Outputs that were chosen by an index on the way: by the action, most likely."""
    for place, (node, output) in enumerate(piece.path.views):
        chosen = None if node is None else choice_of(node, output)
        if chosen is not None:
            put(rows, "index", chosen, piece.path.but(views=piece.path.views[:place]), room)
            return


def _is_divergence(piece: Piece, values: Values) -> bool:
    """Σ p·(log p − x): of a divergence, x are the log-probs of another policy; of a soft value, they are values."""
    product = piece.node.next_functions[0][0] if base_name(piece.node) == "Sum" else None
    if product is None or base_name(product) != "Mul":
        return True
    probs = next((each for each in product.next_functions if each[0] is not None and _is_softmax(each[0])), None)
    if probs is None or any(each is None for each, _ in product.next_functions):
        return True
    left, right = values.factors(product)
    chance, rest = (left, right) if probs == product.next_functions[0] else (right, left)
    if chance is None or rest is None:
        return True
    return bool(((chance.log() - rest).logsumexp(-1).abs() < 1e-2).all())


def _is_softmax(node: Node) -> bool:
    return base_name(node) in ("Softmax", "Exp", "Div")


def _soft(piece: Piece, values: Values, room: int) -> Rows:
    """Log-probs against a distribution: C51, distillation."""
    product = piece.node
    while base_name(product) != "Mul":
        product = next(each for each, _ in product.next_functions if each is not None)
    rows = Rows("classification", "soft-cross-entropy", source=piece.node, family="categorical")
    under = product.next_functions
    place = 0 if under[0][0] is not None else 1
    target = saved(product, ("other", "self")[place])
    table = values.of(*under[place])
    rows.attached["target"] = False
    for name, value in (("target", target), ("prediction", table)):
        if isinstance(value, Tensor) and value.dim():
            rows.shapes[name] = tuple(value.shape)
            if value.numel() <= _TABLE:
                rows.arrays[name] = numpy_of(value.expand(shape_of(product)).reshape(-1, value.shape[-1])[:room])
    chosen = _chosen_distribution(under[place][0])
    if chosen is not None and chosen.numel() * shape_of(product)[-1] == math.prod(shape_of(product)):
        rows.arrays["index"] = numpy_of(chosen.reshape(-1)[:room])
    return rows


def _chosen_distribution(node: Node | None) -> Tensor | None:
    """Of a distribution per action: which action's."""
    for _ in range(12):
        if node is None:
            return None
        name = base_name(node)
        if name == "Index":
            found = saved(node, "indices")
            last = found[-1] if found and len(found) > 1 else None
            return last if isinstance(last, Tensor) and last.dtype != torch.bool else None
        if name in ("Gather", "TakeAlongDim"):
            index = saved(node, "index")
            return index[..., 0] if isinstance(index, Tensor) and index.dim() > 1 else None
        attached = [each for each, _ in node.next_functions if each is not None]
        if len(attached) != 1 or not (name in VIEWS or name in ("Log", "Clamp", "Add") or _over_last(node)):
            return None
        node = attached[0]
    return None


def _over_last(node: Node) -> bool:
    """A softmax over the atoms, of logits from which the action's were taken before it."""
    if base_name(node) not in ("Softmax", "LogSoftmax"):
        return False
    return dimension(saved(node, "dim")) in (-1, len(shape_of(node)) - 1)
