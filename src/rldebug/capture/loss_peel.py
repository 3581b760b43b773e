"""From the loss down: signs, numbers, means, weights and lists are taken off until a thing that is known lies bare.

The loss is a sum. Each additive part is followed through what is linear (minus, a factor, a mean, a weight per row, a
view, a stack of steps) down to a node with a mark of its own (`loss_marks.py`): that is a Piece.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from rldebug.capture.loss_forms import number_of, squared
from rldebug.capture.loss_mark import SQUARES, Mark
from rldebug.capture.loss_marks import Marks
from rldebug.capture.loss_nested import nested_of
from rldebug.capture.loss_nodes import LAYERS, VIEWS, Node, base_name, dimension, dimensions, saved, shape_of
from rldebug.capture.loss_path import (
    Next,
    Path,
    Piece,
    as_rows,
    broadcast,
    collapsed,
    constant_of,
    passes,
    pulled,
    weighted,
)
from rldebug.capture.loss_values import Values

_PIECES = 20_000
_PICKS = ("Select", "Slice", "Index", "IndexSelect")


def pieces_of(root: Node, output: int, marks: Marks, values: Values) -> tuple[list[Piece], bool]:
    """The additive parts, in the order in which they were written; and whether there were too many."""
    found: list[Piece] = []
    shape = shape_of(root, output)
    todo: list[tuple[Node | None, int, Path]] = [(root, output, Path(shape=shape))]
    while todo:
        node, output, path = todo.pop()
        if node is None:
            continue
        if len(found) >= _PIECES:
            return found, True
        try:
            following = _step(node, output, path, marks, values, found)
        except Exception:  # a kind or a shape that was not thought of: this part is not understood, the others may be
            following = None
        if following is None:
            found.append(Piece("?", node, output, marks.of(node) or Mark("net"), path))
        else:
            todo.extend(reversed(following))
    return found, False


def _step(node: Node, output: int, path: Path, marks: Marks, values: Values, found: list[Piece]) -> Next | None:
    """One node further: what lies beneath; nothing where it is a piece of its own; None if not understood."""
    name = base_name(node)
    mark = marks.of(node) or Mark("net")
    under = node.next_functions
    shape = shape_of(node, output)

    def bare(kind: str, **other: Any) -> Next:
        found.append(Piece(kind, node, output, mark, path, other))
        return []

    if name in ("Mm", "Bmm") and mark.tag == "mix":
        return _dotted(node, name, path, marks)
    if name in LAYERS or name == "AccumulateGrad" or name.startswith("own:"):
        return bare(mark.tag if mark.tag != "net" or name != "AccumulateGrad" else "leaf")
    if name in ("MseLoss", "SmoothL1Loss", "HuberLoss", "NllLoss", "NllLoss2D", "KlDiv") or name.startswith(
        "BinaryCross"
    ):
        return _fused(node, output, name, mark, path, found)
    if name == "Neg":
        return [(*under[0], path.times(-1.0).but(factors=(*path.factors, -1.0)))]
    if name in ("Sum", "Mean"):
        if mark.tag in ("logp", "entropy", "kl", "softsum", "log") and _over_actions(node, marks):
            return bare(mark.tag)
        inside = marks.of(under[0][0])
        if inside is not None and inside.tag in ("plogp", "soft") and len(shape_of(*under[0])) > 1:
            # Summed over actions and rows at once.
            on = _reduced(node, name, path)
            found.append(Piece(inside.tag, under[0][0], under[0][1], inside, on.but(shape=on.shape[:-1])))
            return []
        return [(*under[0], _reduced(node, name, path))]
    norm = node if name == "LinalgVectorNorm" else under[0][0] if name == "Pow" and mark.tag == "square" else None
    if norm is not None and base_name(norm) == "LinalgVectorNorm":
        return _norm(norm, "norm" if norm is node else "sum", mark, path, found)
    if name in ("Stack", "Cat") and mark.tag != "net":
        return _unstacked(node, name, path)
    if name in ("Stack", "Cat") and (len(under) > 1 and math.prod(shape) == len(under)):
        return _unstacked(node, name, path)  # outputs of a network, one by one
    if name in ("Add", "Sub", "Rsub"):
        inner = [marks.of(each) for each, _ in under if each is not None]
        if mark.tag == "logp" and len(inner) == 1 and inner[0] is not None and inner[0].tag == "logp":
            plain = all(family in ("categorical", "mask", "bernoulli") for family, _ in mark.picks)
            if plain or not any(base_name(each) in ("Add", "Sub", "Rsub") for each, _ in under if each is not None):
                return _split(node, name, path.but(shifted=True), shape)
        whole = mark.tag in ("logp", "entropy", "kl", "log", "table") or (mark.tag == "net" and _inside(path, shape))
        if not whole and len(inner) > 1 and not path.mixed and _inside(path, shape):
            path = path.but(mixed=len(found) + 1)
        return bare(mark.tag) if whole else _split(node, name, path, shape)
    if name in ("Mul", "Div"):
        return _multiplied(node, name, output, mark, path, marks, found)
    if name in ("Dot", "Mv"):
        return _dotted(node, name, path, marks)
    if name in VIEWS and passes(node, mark):
        return [(*under[0], path.but(views=(*path.views, (node, output))))]
    if name in ("Clamp", "ClampMin", "ClampMax") and mark.tag == "square":
        return _capped(node, path)
    if name in ("Minimum", "Maximum", "Where", "Min", "Max"):
        return nested_of(node, output, name, mark, path, marks, values, found)
    if name in ("MaskedFill", "IndexPut") and mark.tag not in ("table", "probs"):
        return _masked(node, name, path)
    return bare(mark.tag)


def _inside(path: Path, shape: tuple[int, ...]) -> bool:
    """Beneath a reduction a sum of outputs is one output (dueling heads); above it, they are terms of their own."""
    return bool(path.reductions) or math.prod(shape) > 1


def _split(node: Node, name: str, path: Path, shape: tuple[int, ...]) -> Next:
    alpha = saved(node, "alpha")
    alpha = 1.0 if alpha is None else float(alpha)
    signs = {"Add": (1.0, alpha), "Sub": (1.0, -alpha), "Rsub": (-alpha, 1.0)}[name]
    following: Next = []
    for (each, output), sign in zip(node.next_functions, signs, strict=False):
        if each is not None:
            on = path if sign == 1.0 else path.times(sign).but(factors=(*path.factors, sign))
            following.append((each, output, broadcast(on, shape, each, output)))
    return following


def _reduced(node: Node, name: str, path: Path) -> Path:
    (each, output) = node.next_functions[0]
    inner = shape_of(each, output)
    count = math.prod(inner) // max(math.prod(shape_of(node)), 1)
    if count == 1 and not path.weights:
        return path.but(shape=inner, views=())
    dims = dimensions(saved(node, "dim"))
    keep = bool(saved(node, "keepdim"))
    path = collapsed(path, shape_of(node))
    weights, lost = pulled(path, shape_of(node))
    if weights and dims and not keep:
        for dim in sorted(each % len(inner) for each in dims):
            weights = tuple((weight.unsqueeze(dim), 0) for weight, _ in weights)
    outer = (*path.outer, *path.factors)
    on = path.but(shape=inner, views=(), weights=weights, lost=path.lost or lost, factors=(), outer=outer)
    if count == 1:
        return on.but(factors=path.factors, outer=path.outer)
    on = on.but(reductions=(*path.reductions, "mean" if name == "Mean" else "sum"))
    return on.but(scale=on.scale / count) if name == "Mean" else on


def _norm(node: Node, how: str, mark: Mark, path: Path, found: list[Piece]) -> Next:
    """The length of a vector of differences: its rows are the differences."""
    inner = shape_of(*node.next_functions[0])
    lost = path.lost or bool(path.weights)
    on = path.but(shape=inner, views=(), weights=(), factors=(), lost=lost, reductions=(*path.reductions, how))
    found.append(Piece("abs", node, 0, mark, on))
    return []


def _over_actions(node: Node, marks: Marks) -> bool:
    """A sum over the parts of one action (its log-prob, its entropy), rather than over rows."""
    (each, output) = node.next_functions[0]
    inner = shape_of(each, output)
    mark = marks.of(each) or Mark("net")
    if mark.tag in ("plogp", "soft"):
        return len(dimensions(saved(node, "dim"))) == 1 or len(inner) == 1
    if base_name(node) == "Mean":
        return False
    dims = {each % max(len(inner), 1) for each in dimensions(saved(node, "dim"))}
    if base_name(each) == "Stack":
        return mark.tag == "logp" and marks.one_step(mark.picks) and len(mark.picks) > 1
    if dims and len(dims) < len(inner):
        return len(inner) - 1 in dims
    # Everything is summed. Of an observation without a batch: the dimensions of the action.
    layer = marks.layer_of(each)
    rows = shape_of(layer)[:1] if layer is not None else ()
    return len(inner) == 1 and inner[0] > 1 and rows == (1,)


def _unstacked(node: Node, name: str, path: Path) -> Next:
    dim = dimension(saved(node, "dim")) % max(len(shape_of(node)), 1)
    weights, lost = pulled(path, shape_of(node))
    weights = tuple((each.expand(shape_of(node)), 0) for each, _ in weights)
    following: Next = []
    at = 0
    kept = _kept(node, dim, path) if name == "Stack" else None
    for each, output in node.next_functions:
        if name == "Stack":
            part = tuple((weight.select(dim, at), 0) for weight, _ in weights)
            at += 1
            if kept is not None and at - 1 not in kept:
                continue
        elif each is None:
            return []  # how long the parts without a graph are is not known
        else:
            long = shape_of(each, output)[dim]
            part = tuple((weight.narrow(dim, at, long), 0) for weight, _ in weights)
            at += long
        if each is not None:
            inner = shape_of(each, output)
            on = path.but(shape=inner, views=(), weights=(), lost=path.lost or lost, listed=True)
            single = [weight.item() for weight, _ in part if weight.numel() == 1]
            on = on.but(weights=tuple(each for each in part if each[0].numel() > 1))
            for number in single:
                on = on.times(number).but(factors=(*on.factors, number))
            following.append((each, output, on))
    return following


def _kept(node: Node, dim: int, path: Path) -> set[int] | None:
    """Which of the parts of a stack are still there above, where some were picked out of it; None: all."""
    if not any(each is not None and base_name(each) in _PICKS for each, _ in path.views):
        return None
    shape = shape_of(node)
    places = torch.arange(shape[dim]).reshape([-1 if each == dim else 1 for each in range(len(shape))]).expand(shape)
    moved = as_rows(places, path)
    return None if moved is None else set(moved.reshape(-1).tolist())


def _multiplied(
    node: Node, name: str, output: int, mark: Mark, path: Path, marks: Marks, found: list[Piece]
) -> Next | None:
    under = node.next_functions
    shape = shape_of(node, output)
    attached = [place for place, (each, _) in enumerate(under) if each is not None]
    if len(attached) == 1:
        inner = under[attached[0]]
        if name == "Div" and attached[0] == 1:
            found.append(Piece(mark.tag, node, output, mark, path))
            return []
        other = constant_of(node, 1 - attached[0])
        if other is None:
            return None
        if mark.tag == "logp" and (marks.of(inner[0]) or mark).tag != "logp":
            found.append(Piece("logp", node, output, mark, path))  # a mask that picks the action
            return []
        if mark.tag == "ratio" and mark.of is node:
            found.append(Piece("ratio", node, output, mark, path))  # probability over an old probability
            return []
        half = other.numel() == 1 and abs(other.item()) == (2.0 if name == "Div" else 0.5)
        if half and mark.tag == "logp" and any(family == "normal" for family, _ in mark.picks):
            found.append(Piece("logp", node, output, mark, path))  # the ½ of a Gaussian written out
            return []
        return [(*inner, weighted(broadcast(path, shape, *inner), other, name == "Div", len(path.views)))]
    if mark.tag == "square" and (what := squared(node)) is not None:
        found.append(Piece("square", node, output, mark, path.times(what.number)))
        return []
    if mark.tag in ("square", "plogp", "kl", "net") or name == "Div":
        found.append(Piece(mark.tag, node, output, mark, path))
        return []
    tags = [(marks.of(each) or mark).tag for each, _ in under]
    known = [place for place in (0, 1) if tags[place] in ("logp", "ratio", "prob", *SQUARES)]
    if not known:
        found.append(Piece("net", node, output, mark, path))
        return []
    # A weight that carries a graph. Of two that could be the weight, a probability is.
    known.sort(key=lambda place: ("logp", "ratio", "square", "abs", "huber", "prob").index(tags[place]))
    inner, weight = under[known[0]], constant_of(node, 1 - known[0])
    if weight is None:
        return None
    on = weighted(broadcast(path, shape, *inner), weight, False, len(path.views))
    return [(*inner, on.but(attached=(*on.attached, under[1 - known[0]][0])))]


def _dotted(node: Node, name: str, path: Path, marks: Marks) -> Next | None:
    """A product that sums: `logp @ advantage`."""
    under = node.next_functions
    places = [place for place, (each, _) in enumerate(under) if each is not None]
    if name == "Mv":
        return None
    here = places[0]
    if len(places) == 2:
        here = 0 if (marks.of(under[0][0]) or Mark("net")).tag in ("logp", "ratio") else 1
    other = saved(node, ("self", "tensor" if name == "Dot" else "mat2")[1 - here])
    if not isinstance(other, Tensor) or other.numel() != math.prod(shape_of(*under[here])):
        return None
    other = other.reshape(shape_of(*under[here]))
    outer = (*path.outer, *path.factors)
    on = path.but(shape=shape_of(*under[here]), views=(), weights=(), factors=(), outer=outer, lost=bool(path.weights))
    on = on.but(reductions=(*path.reductions, "sum"))
    if len(places) == 2:
        on = on.but(attached=(*on.attached, under[1 - here][0]))
    return [(*under[here], on.but(weights=((other, 0),)))]


def _fused(node: Node, output: int, name: str, mark: Mark, path: Path, found: list[Piece]) -> Next:
    """A loss in one node: the reduction is written in it."""
    how = saved(node, "reduction")
    rows = saved(node, "target" if name.startswith("NllLoss") else "self")
    if isinstance(rows, Tensor) and how in (1, 2):
        inner, count = tuple(rows.shape), max(rows.numel(), 1)
        path = collapsed(path, shape_of(node))
        weights = () if path.weights else path.weights
        path = path.but(shape=inner, views=(), weights=weights, factors=(), lost=path.lost or bool(path.weights))
        if count > 1:
            path = path.but(reductions=(*path.reductions, "mean" if how == 1 else "sum"))
        if how == 1:
            path = path.but(scale=path.scale / count)
    kind = mark.tag if name != "KlDiv" else "kl"
    found.append(Piece(kind, node, output, mark, path))
    return []


def _capped(node: Node, path: Path) -> Next | None:
    """A squared error held within bounds: rows beyond them push nothing, as if they were left out."""
    error = saved(node, "self")
    if not isinstance(error, Tensor):
        return None
    low, high = number_of(saved(node, "min")), number_of(saved(node, "max"))
    within = torch.ones_like(error, dtype=torch.bool)
    if low is not None:
        within &= error >= low
    if high is not None:
        within &= error <= high
    inner = node.next_functions[0]
    return [(*inner, path if bool(within.all()) else weighted(path, within, False, len(path.views)))]


def _masked(node: Node, name: str, path: Path) -> Next | None:
    (each, output) = node.next_functions[0]
    if each is None:
        return None
    if name == "IndexPut":
        return [(each, output, path.but(views=path.views))]
    mask = saved(node, "mask")
    if not isinstance(mask, Tensor):
        return None
    return [(each, output, weighted(path, ~mask, False, len(path.views)))]
