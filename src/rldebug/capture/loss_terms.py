"""The terms of a loss, read off its graph just before it is minimised: what is regressed on what, by which weight.

    loss = Σ over terms of  scale · Σ over rows of  weight · mask · f(row)

where f is a squared difference, a log-prob, a ratio, an entropy …. The graph is read and never run; nothing of it is
kept but copies of numbers, and the detached inputs of the networks for as long as the caller keeps them.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rldebug.capture import loss_nodes
from rldebug.capture.loss_apart import Trace, tell_apart
from rldebug.capture.loss_cut_off import cut_off
from rldebug.capture.loss_kinds import rows_of
from rldebug.capture.loss_mark import SQUARES
from rldebug.capture.loss_marks import Marks
from rldebug.capture.loss_nodes import Node, base_name, line_of
from rldebug.capture.loss_path import Piece, numpy_of, weight_rows
from rldebug.capture.loss_peel import pieces_of
from rldebug.capture.loss_picks import picked, reordered
from rldebug.capture.loss_rows import Rows
from rldebug.capture.loss_term import ROWS, Term
from rldebug.capture.loss_unpicked import unpicked
from rldebug.capture.loss_values import Reach, Values
from rldebug.capture.switch import Switchboard

NODES = 20_000  # near the loss; beyond, the term is not looked into
_BENEATH = 50_000  # in the networks
_STEPS = 16  # written out one by one, of which an action would be another now and then

_one_at_a_time = threading.RLock()

Array = npt.NDArray[Any]


def install(switchboard: Switchboard) -> None:
    """From here on it is known whether saved-tensor hooks were ever in force."""

    def put(owner: Any, name: str, make: Any) -> None:
        switchboard.replace("backward", owner, name, make)

    loss_nodes.watch_saved_hooks(put)


def readable() -> bool:
    """Not under a dispatch mode: it would see what we do."""
    return not torch._C._len_torch_dispatch_stack() and not torch.compiler.is_compiling()


def terms_of(loss: Tensor, *, lines: bool | None = None) -> list[Term]:
    """The additive parts of a loss. Never raises; what cannot be read is left out."""
    root = loss.grad_fn
    if root is None or not readable():
        return []
    if lines is None:
        lines = torch.is_anomaly_enabled()
    with _one_at_a_time, torch.no_grad(), torch._C.DisableTorchFunction():  # a default device is a function mode
        try:
            return _terms(root, int(loss.output_nr), lines)
        except Exception:
            return [Term("other", 1.0, "none", base_name(root), 1, cut=True)]
        finally:
            loss_nodes.forget()


def _terms(root: Node, output: int, lines: bool) -> list[Term]:
    marks = Marks(root, NODES)
    values = Values(marks.above)
    pieces, many = pieces_of(root, output, marks, values)
    groups = _grouped(pieces, marks)
    traces = [_term(group, marks, values, lines) for group in groups]
    tell_apart(traces)
    terms = [each.term for each in traces]
    if many or marks.cut:
        for each in terms:
            each.cut = True
        return terms
    for each in terms:
        if each.kind == "policy":
            each.cut_off = cut_off(each, terms, [group[0].node for group in groups])
    chosen = [each for each in terms if each.kind == "policy" and "categorical" in each.family]
    if chosen:
        entropies, left_out = unpicked(marks)
        for each in chosen:
            each.entropies, each.unpicked = entropies, left_out
    return terms


def _grouped(pieces: list[Piece], marks: Marks) -> list[list[Piece]]:
    """Pieces of the same form through the same network: one per step, written out in a loop."""
    if len(pieces) == 1:
        return [pieces]
    groups: dict[Any, list[Piece]] = {}
    for number, piece in enumerate(pieces):
        path = piece.path
        head = marks.head_of(piece.node)
        shape = path.shape if len(path.shape) != 1 else ()  # episodes differ in length
        form = (piece.kind, base_name(piece.node), shape, path.reductions, len(path.factors), len(path.weights))
        key = (*form, path.nested, bool(path.attached), bool(path.mixed), head) if head else number
        groups.setdefault(key, []).append(piece)
    return list(groups.values())


def _term(group: list[Piece], marks: Marks, values: Values, lines: bool) -> Trace:
    first = group[0]
    path = first.path
    rows = sum(math.prod(each.path.shape) for each in group)
    read: list[Rows] = []
    room = ROWS
    for piece in group:
        read.append(rows_of(piece, marks, values, room))
        room -= math.prod(piece.path.shape)
        if room <= 0:
            break
    one = read[0]
    flipped = first.mark.tag == "plogp" or (
        first.mark.sign < 0 and first.mark.tag not in SQUARES and one.kind != "other"
    )
    sign = -1.0 if flipped else 1.0  # −Σ p·log p, −log p: the coefficient is that of the entropy, of the log-prob
    term = Term(one.kind, sign * path.coefficient, "none", one.op, rows, sign * path.scale, steps=len(group))
    term.shapes, term.attached, term.clip, term.inverted = one.shapes, one.attached, one.clip, one.inverted
    term.twice, term.bounded, term.pooled = first.mark.twice, first.other.get("product"), path.pooled
    term.zeroed, term.across = any(each.mark.zeroed for each in group), any(each.mark.across for each in group)
    term.averaged = first.mark.averaged
    if "outer" in first.other:
        term.outer = math.copysign(1.0, first.other["outer"])
    term.nested, term.family, term.cut = path.nested or one.nested, one.family, rows > ROWS
    names = set.intersection(*(set(each.arrays) for each in read))
    for name in one.arrays:
        if name in names:
            parts = [each.arrays[name] for each in read]
            joined = parts[0] if len(parts) == 1 else _joined(parts)
            if joined is not None:
                term.arrays[name] = joined
    index = term.arrays.get("index")
    if one.kind == "regression" and index is not None and len(group) >= _STEPS and (index == index[0]).all():
        del term.arrays["index"]  # one observation at a time: of each the same output, which is a head and no action
    divisors = [each for piece in group for each in piece.path.divisors] if len(group) < 3 else list(path.divisors)
    _weigh(term, group, sign)
    _reduce(term, group, divisors)
    if lines:
        term.line = line_of(first.other.get("top", first.node))
        term.inner = None if first.mark.inner is None else line_of(first.mark.inner)
    _reach(term, group, read)
    picks = first.mark.picks
    heads = {marks.head_of(node) for family, node in picks if family == "normal"}
    if one.kind == "regression" and one.op != "gaussian-nll":
        heads = {marks.head_of(one.source)}
    return Trace(term, path.mixed, frozenset(id(node) for _, node in picks), frozenset(heads) - {0})


def _joined(parts: list[Array]) -> Array | None:
    return np.concatenate(parts) if len({each.shape[1:] for each in parts}) == 1 else None


def _weigh(term: Term, group: list[Piece], sign: float) -> None:
    """Weight and mask. Of steps listed one by one the weight is a plain number: the one that differs between them."""
    path = group[0].path
    weight: Array | None = None
    if path.weights:
        weight, mask, shape = _weights(term, group)
        if weight is not None:
            term.shapes["weight"] = shape
        if mask is not None:
            term.arrays["mask"] = mask.astype(np.float32)
    if path.factors or (len(group) > 1 and path.outer):
        weight = _numbers(term, group, sign, weight)
    if weight is not None:
        term.arrays["weight"] = weight.astype(np.float32)
        term.attached["weight"] = bool(path.attached)
        _by_weight(term, weight)
        if "mask" not in term.arrays:
            _as_mask(term, path.divisors)


def _numbers(term: Term, group: list[Piece], sign: float, weight: Array | None) -> Array | None:
    """Single numbers as weights: those that differ between steps, or the one that a log-prob was multiplied by."""
    above = len(group[0].path.outer) if all(len(each.path.outer) == len(group[0].path.outer) for each in group) else 0
    factors = np.array([(*piece.path.outer[:above], *piece.path.factors) for piece in group], dtype=np.float64)
    columns = np.flatnonzero((factors != factors[:1]).any(axis=0)).tolist() if len(group) > 1 else []
    policy = term.kind in ("policy", "classification") or term.op in ("gaussian-nll", "log-ratio")
    if not columns and policy and weight is None:
        columns = [int(at) + above for at in np.flatnonzero(factors[0, above:] != -1.0)[-1:]]
    if not columns:
        return weight
    # Signs stay with the coefficient: −logp·R and logp·(−R) are read as they are written.
    product = factors[:, columns].prod(axis=1)
    known = int(np.argmax(product != 0))  # a step whose weight is zero does not tell the rest
    if product[known]:
        term.coefficient = sign * group[known].path.coefficient / float(product[known])
        term.scale = sign * group[known].path.scale / float(product[known])
    else:
        term.coefficient = term.scale = sign * float(np.delete(factors[0], columns).prod())
    number = np.repeat(product, [math.prod(each.path.shape) for each in group]).astype(np.float32)[:ROWS]
    term.shapes.setdefault("weight", ())
    return number if weight is None or len(weight) != len(number) else weight * number


def _by_weight(term: Term, weight: Array) -> None:
    """A likelihood that is weighted is a policy gradient."""
    signed = bool((weight < 0).any() and (weight > 0).any())
    # The weights of a yes or no may also be those of a classifier.
    fitted = term.kind == "classification" and term.op == "cross-entropy" and (signed or term.family != "bernoulli")
    if fitted or term.op in ("gaussian-nll", "log-ratio"):
        term.kind, term.op = "policy", "logp"
    elif term.kind == "regression" and signed and {"prediction", "target"} <= set(term.arrays):
        # A distance that is now to grow, now to shrink: the log-prob of a Gaussian, without its constants.
        term.kind, term.family = "policy", "normal"
        term.coefficient, term.scale = -term.coefficient, -term.scale
        term.arrays["action"], term.arrays["mean"] = term.arrays.pop("target"), term.arrays.pop("prediction")


def _as_mask(term: Term, divisors: tuple[float, ...]) -> None:
    """Zeros and ones are rows left out; but of a log-prob they may be rewards, unless their sum is divided by."""
    weight = term.arrays.get("weight")
    if weight is None or term.attached["weight"] or not _is_mask(weight):
        return
    if term.kind != "policy" or _divided_by(weight, divisors):
        term.arrays["mask"] = term.arrays.pop("weight")
        del term.attached["weight"]
        term.shapes.pop("weight", None)
        if term.kind == "policy" and term.op == "logp":
            term.kind, term.op = "classification", "cross-entropy"


def _zeros_and_ones(array: Array) -> bool:
    return bool(((array == 0) | (array == 1)).all())


def _weights(term: Term, group: list[Piece]) -> tuple[Array | None, Array | None, tuple[int, ...]]:
    """Product of the weights, product of the masks (0 and 1, beside another weight), and how the weight was shaped."""
    first = group[0].path
    by_piece = [[] if piece.path.lost else weight_rows(piece.path, piece.path.shape) for piece in group[:ROWS]]
    if any(len(each) != len(first.weights) for each in by_piece):
        return None, None, ()
    whole = [np.concatenate([numpy_of(each[at], ROWS) for each in by_piece])[:ROWS] for at in range(len(first.weights))]
    binary = [_is_mask(each) for each in whole]
    masks = list(binary)
    if all(_zeros_and_ones(each) for each in whole):  # all of them: those that must be masks, or the last of several
        sure = [each.dtype == torch.bool for each, _ in first.weights]
        masks = [
            both and (told or _divided_by(each, first.divisors))
            for both, told, each in zip(binary, sure, whole, strict=True)
        ]
        if len(whole) > 1 and not any(masks):
            masks[-1] = binary[-1]
    weight: Array | None = None
    mask: Array | None = None
    shape: tuple[int, ...] = ()
    for each, masking, (was, _) in zip(whole, masks, first.weights, strict=True):
        if masking:
            mask = each if mask is None else mask * each
        else:
            weight, shape = each if weight is None else weight * each, tuple(was.shape)
    return weight, mask, shape


def _is_mask(array: Array) -> bool:
    return _zeros_and_ones(array) and not array.all()


def _divided_by(mask: Array, divisors: tuple[float, ...]) -> bool:
    total = float(mask.sum())
    return any(by > 1 and math.isclose(by, total, rel_tol=1e-5) for by in divisors)


def _reduce(term: Term, group: list[Piece], divisors: list[float]) -> None:
    ways = set(group[0].path.reductions)
    if len(group) > 1 and not group[0].path.listed:  # added up one by one
        if ways == {"mean"} and any(math.isclose(by, len(group)) for by in divisors):
            term.coefficient *= len(group)  # a mean of means
        else:
            ways.add("sum")
    if not ways:
        return
    term.reduction = ways.pop() if len(ways) == 1 else "mixed"
    if term.reduction != "sum":
        return
    mask = term.arrays.get("mask")
    counts = [float(term.rows)] + ([float(mask.sum())] if mask is not None and not term.cut else [])
    for by in divisors:
        if by > 1 and any(math.isclose(by, each, rel_tol=1e-5) for each in counts):
            term.reduction = "mean"
            term.coefficient *= by
            return


def _reach(term: Term, group: list[Piece], read: list[Rows]) -> None:
    beneath = Reach()
    by_step: list[list[Tensor]] = []
    for piece, rows in zip(group, read, strict=False):
        by_step.append(beneath.below(rows.source or piece.node, _BENEATH))
    if by_step[0] and not all(by_step):
        # The last step of a recurrent network stands on all before it. Summed up backwards, it comes first.
        again = Reach()
        steps = [rows.source or piece.node for piece, rows in zip(group, read, strict=False)]
        turned = [again.below(each, _BENEATH) for each in reversed(steps)]
        by_step = turned[::-1] if all(turned) else by_step
    term.parameters, term.through, term.plain = beneath.parameters, beneath.through, beneath.plain
    term.inputs = _inputs(by_step, term.rows)
    if len(group) == 1:
        term.picks = _picked(reordered, read[0], group[0])
        if term.picks is None and all(_rows(each) > term.rows for each in term.inputs[:1]):
            term.picks = _picked(picked, read[0], group[0])
    term.cut = term.cut or beneath.cut
    for name, nodes in (("target", [each.target for each in read]), ("weight", list(group[0].path.attached))):
        if any(each is not None for each in nodes):
            side = Reach()
            for each in nodes:
                side.below(each, _BENEATH)
            term.sides[name] = sorted(side.parameters)
            term.parameters = term.parameters | side.parameters


def _picked(look: Any, rows: Rows, piece: Piece) -> tuple[int, Array] | None:
    try:
        found: tuple[int, Array] | None = look(rows.source, rows.at, piece)
        return found
    except Exception:  # shapes that do not go together after all
        return None


def _inputs(by_step: list[list[Tensor]], rows: int) -> list[Tensor]:
    """Inputs of steps are put together in order, so that their rows are those of the arrays."""
    first = by_step[0]
    if len(by_step) > 1:
        together = []
        for shape in {each.shape[1:]: None for each in first}:
            alike = [[each for each in step if each.shape[1:] == shape] for step in by_step]
            if all(len(step) == 1 for step in alike):
                together.append((torch.cat if len(alike[0][0].shape) > 1 else torch.stack)([step[0] for step in alike]))
        if together:
            return together
        first = [each for step in by_step for each in step][:64]
    kept = list({(each.data_ptr(), each.shape): each for each in first}.values())
    if len(kept) > 2 and len({each.shape for each in kept}) == 1 and kept[0].dim():
        # Outputs of several calls were stacked before they were used.
        if rows in (sum(_rows(each) for each in kept), sum(map(len, kept))):
            return [torch.cat(_in_order(kept) or kept)]
        if rows == len(kept):
            return [torch.stack(_in_order(kept) or kept)]  # of single observations
    for shape in {each.shape: None for each in kept}:
        # A recurrent network, unrolled: the inputs of its steps are slices of one tensor; the first state is another.
        parts = [each for each in kept if each.shape == shape]
        if len(parts) > 2 and sum(_rows(each) for each in parts) == rows and (ordered := _in_order(parts)):
            return [torch.cat(ordered)]
    return kept


def _in_order(parts: list[Tensor]) -> list[Tensor] | None:
    """Slices of one tensor, as they lie in it. The graph of a recurrent network is met from its end."""
    try:
        if len({each.untyped_storage().data_ptr() for each in parts}) == 1:
            return sorted(parts, key=lambda each: int(each.storage_offset()))
    except Exception:
        pass
    return None


def _rows(given: Tensor) -> int:
    return given.numel() // given.shape[-1] if given.dim() > 1 and given.numel() else 0


__all__ = ["NODES", "ROWS", "Term", "install", "readable", "terms_of"]
