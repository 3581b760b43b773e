"""Log-probs and ratios: their numbers, and the action that was taken."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rldebug.capture.loss_forms import difference_in, squared
from rldebug.capture.loss_marks import Marks
from rldebug.capture.loss_nodes import Node, base_name, saved, shape_of
from rldebug.capture.loss_path import Piece, as_rows, numpy_of, own_shape
from rldebug.capture.loss_rows import Rows, choice_of, put, sign_of
from rldebug.capture.loss_values import Values


def scaled_rows(piece: Piece, marks: Marks, values: Values, room: int) -> Rows:
    """A square over a scale that is learned, and no more: part of a divergence, or a log-prob without its rest."""
    rows = Rows("other", "scaled-square", source=piece.node, family="normal")
    _put_action(rows, piece, marks, values, room)
    return rows


def log_prob_rows(piece: Piece, marks: Marks, values: Values, room: int) -> Rows:
    mark = piece.mark
    families = sorted({"categorical" if each == "mask" else each for each, _ in mark.picks})
    rows = Rows("classification", "cross-entropy", source=piece.node, family="+".join(families))
    rows.attached["action"] = mark.reparameterised
    rows.shapes["logp"] = own_shape(piece)
    if mark.reparameterised:
        rows.kind, rows.op = "output", "logp"
    elif piece.path.shifted and math.prod(piece.path.shape) > 1:
        rows.kind, rows.op = "other", "log-ratio"
    elif families == ["normal"]:
        rows.kind, rows.op = "regression", "gaussian-nll"
    _put_log_prob(rows, piece.node, piece.output, mark.sign < 0, piece, values, room)
    _put_action(rows, piece, marks, values, room)
    if "mean" in rows.arrays and rows.op == "gaussian-nll":
        rows.attached.setdefault("target", False)
    return rows


def _put_log_prob(rows: Rows, node: Node, at: int, negative: bool, piece: Piece, values: Values, room: int) -> None:
    name = base_name(node)
    if name in ("NllLoss", "NllLoss2D"):
        table, target = saved(node, "self"), saved(node, "target")
        if isinstance(table, Tensor) and isinstance(target, Tensor) and table.dim() >= 2:
            safe = target.clamp(0, table.shape[1] - 1)
            put(rows, "logp", table.gather(1, safe.unsqueeze(1)).squeeze(1), piece.path, room)
        return
    value = values.of(node, at)
    exact = value is not None and (not piece.path.shifted or rows.family == "categorical")
    if value is None:
        value = values.of(node, at, loose=True)
    if value is not None and negative:
        value = -value
    own = shape_of(piece.node, piece.output)
    if value is not None and [each for each in value.shape if each > 1] == [each for each in own if each > 1]:
        value = value.reshape(own)  # an axis of one lies between it and the ratio
    put(rows, "logp" if exact else "logp_up_to_constant", value, piece.path, room)


def policy_rows(piece: Piece, marks: Marks, values: Values, room: int) -> Rows:
    mark, node = piece.mark, piece.node
    families = sorted({"categorical" if each == "mask" else each for each, _ in mark.picks})
    op = "prob" if mark.tag == "prob" else "exp-ratio" if base_name(_unclamped(node)) == "Exp" else "prob-ratio"
    rows = Rows("policy", op, source=node, family="+".join(families), inverted=mark.inverted)
    rows.attached["action"] = mark.reparameterised
    if mark.reparameterised:
        rows.kind = "output"
    if mark.tag == "ratio" and not piece.path.weights and not piece.path.factors and piece.kind != "clipped":
        rows.kind, rows.op = "other", "ratio"
    rows.clip = piece.other.get("clip") or mark.clip
    free = _unclamped(node)
    rows.shapes["ratio"] = own_shape(piece)
    ratio = values.of(free)
    if ratio is not None:
        put(rows, "ratio" if mark.tag != "prob" else "prob", ratio, piece.path, room)
    inner, at = _log_prob_beneath(free, marks)
    if inner is not None:
        rows.shapes["logp"] = shape_of(inner, at)
        beneath = marks.of(inner) or mark
        if beneath.tag == "prob":
            chance = values.of(inner, at)
            put(rows, "logp", None if chance is None else chance.log(), piece.path, room)
        else:
            _put_log_prob(rows, inner, at, beneath.sign < 0, piece, values, room)
        if "logp" in rows.arrays and "ratio" in rows.arrays and len(rows.arrays["logp"]) == len(rows.arrays["ratio"]):
            with np.errstate(all="ignore"):
                change = np.log(rows.arrays["ratio"])
            rows.arrays["logp_old"] = rows.arrays["logp"] + (change if mark.inverted else -change)
    _put_action(rows, piece, marks, values, room)
    _put_bound(rows, piece, room)
    return rows


def _unclamped(node: Node) -> Node:
    for _ in range(4):
        name = base_name(node)
        if name in ("Clamp", "ClampMin", "ClampMax"):
            node = node.next_functions[0][0]
        elif name in ("Minimum", "Maximum"):
            node = next(each for each, _ in node.next_functions if each is not None)
        else:
            break
    return node


def _log_prob_beneath(node: Node, marks: Marks) -> tuple[Node | None, int]:
    """The log-prob under a ratio: beneath the exponential, before the old one is taken off."""
    at = 0
    for _ in range(8):
        under = [each for each in node.next_functions if each[0] is not None]
        if len(under) != 1:
            return None, 0
        was = base_name(node)
        (inner, at) = under[0]
        mark = marks.of(inner)
        if mark is None or mark.tag not in ("logp", "prob"):
            return (node, 0) if was in ("Add", "Sub", "Rsub") else (None, 0)
        if was in ("Add", "Sub", "Rsub") or mark.tag == "prob" or not mark.shifted:
            return inner, at
        node = inner
    return None, 0


def _put_bound(rows: Rows, piece: Piece, room: int) -> None:
    """Of a bound that is data, (1 ± ε)·A: the clip range, where it is one."""
    bound, beside = piece.other.get("bound"), piece.other.get("bounded")
    if not isinstance(bound, Tensor) or beside is None or not beside.weights:
        return
    try:
        weight = beside.weights[-1][0] * beside.coefficient
        quotient = (bound / weight)[weight != 0]
        if quotient.numel():
            low, high = float(quotient.min().item()), float(quotient.max().item())
            rows.clip = (low if low < 1 else None, high if high > 1 else None)
    except Exception:
        pass


def _put_action(rows: Rows, piece: Piece, marks: Marks, values: Values, room: int) -> None:
    """The action whose log-prob it is: `index` of a choice, `action` of a continuous one. Parts side by side."""
    count = math.prod(shape_of(piece.node, piece.output))
    if saved(piece.node, "reduction"):
        count = math.prod(piece.path.shape)  # a loss in one node
    order = _order(piece)
    choices, actions, means, spreads = [], [], [], []
    for family, node in piece.mark.picks:
        if family in ("categorical", "mask"):
            found = choice_of(node, sure=True)
            choices.append(None if found is None else found)
        elif family == "bernoulli":
            actions.append(saved(node, "target"))
        elif family == "beta":
            under = node.next_functions
            value = saved(node, "other") if len(under) > 1 and under[1][0] is None else None
            actions.append(value[..., 0] if isinstance(value, Tensor) and value.shape[-1] == 2 else value)
        elif family == "normal":
            action, mean, spread = _gaussian(node, marks, values)
            actions.append(action)
            means.append(mean)
            spreads.append(spread)
    for name, parts in (("index", choices), ("action", actions), ("mean", means), ("std", spreads)):
        known = [each for each in parts if isinstance(each, Tensor)]
        if not known or len(known) != len(parts):
            continue
        columns = [_columns(each, count) for each in known]
        if any(each is None for each in columns):
            continue
        whole = torch.cat([each for each in columns if each is not None], dim=1)
        whole = whole[order] if order is not None else whole
        rows.arrays[name] = numpy_of((whole[:, 0] if whole.shape[1] == 1 else whole)[:room])


def _columns(value: Tensor, count: int) -> Tensor | None:
    if not count or value.numel() % count:
        return None
    return value.reshape(count, -1)


def _order(piece: Piece) -> Tensor | None:
    """Where views between the log-prob and the rows change the order (or repeat rows): which row came from which."""
    trivial = ("View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Clone", "ToCopy", "Alias")
    if all(node is not None and base_name(node) in trivial for node, _ in piece.path.views):
        return None
    shape = shape_of(piece.node, piece.output)
    try:
        moved = as_rows(torch.arange(math.prod(shape), device="cpu").reshape(shape), piece.path)
    except Exception:
        return None
    return None if moved is None else moved.reshape(-1)


def _gaussian(node: Node, marks: Marks, values: Values) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Action, mean and scale of a Gaussian log-prob, from its square."""
    what = squared(node)
    base, at = (what.node, what.output) if what is not None else node.next_functions[0]
    difference, _ = difference_in(base)
    if difference is None:
        return None, None, None
    gap, spread = values.of(difference), None
    value = values.of(base, at)
    if base is not difference and base_name(base) in ("Div", "Mul") and value is not None:
        left, right = values.factors(base)
        inner_first = base.next_functions[0][0] is difference
        other = right if inner_first else left
        if isinstance(other, Tensor):
            spread = other if base_name(base) == "Div" else other.reciprocal()
            gap = value * other if base_name(base) == "Div" else value / other
    under = difference.next_functions
    places = [place for place, (each, _) in enumerate(under) if each is not None]
    name = base_name(difference)
    if gap is None or len(places) != 1 or name == "Add":
        return None, None, spread
    mean = values.of(*under[places[0]])
    if mean is None:
        return None, None, spread
    sign = sign_of(name, places[0])  # gap = sign · (mean − action)
    mean = mean.expand(gap.shape)
    if spread is None:
        spread = _spread_above(node, marks, values)
    action = mean - sign * gap
    return action, mean, None if spread is None else spread.expand(gap.shape)


def _spread_above(node: Node, marks: Marks, values: Values) -> Tensor | None:
    """−(a − μ)² / (2σ²): the scale that the factors above the square come to."""
    factor: Any = 1.0
    for _ in range(6):
        above = marks.above.get(node, [])
        if len(above) != 1 or (marks.of(above[0][0]) is None):
            break
        parent, place = above[0]
        name = base_name(parent)
        if name == "Neg":
            factor = -factor
        elif name in ("Mul", "Div"):
            left, right = saved(parent, "self"), saved(parent, "other")
            other = right if place == 0 else left
            if other is None:
                break
            factor = factor * other if name == "Mul" else factor / other
        elif name not in ("Add", "Sub") or place != 0:  # −½ (square / σ² + 2 log σ + log 2π)
            break
        node = parent
    if not isinstance(factor, Tensor):
        return None
    return (-0.5 / factor).sqrt() if bool((factor < 0).all()) else None
