"""Regressions: which side is the prediction, and what the other one was."""

from __future__ import annotations

from torch import Tensor

from rldebug.capture.loss_forms import difference_in, squared
from rldebug.capture.loss_marks import Marks
from rldebug.capture.loss_nested import clip_beneath
from rldebug.capture.loss_nodes import VIEWS, Node, base_name, saved, shape_of
from rldebug.capture.loss_path import Path, Piece, as_rows, numpy_of
from rldebug.capture.loss_rows import Rows, is_output, put, put_choice, sign_of
from rldebug.capture.loss_values import Values

_FUSED = {"MseLoss": "mse", "SmoothL1Loss": "smooth-l1", "HuberLoss": "huber"}
_WRITTEN = {"Pow": "square", "Mul": "square", "Abs": "l1", "LinalgVectorNorm": "norm"}


def regression_rows(piece: Piece, marks: Marks, values: Values, room: int) -> Rows:
    node = piece.node
    name = base_name(node)
    rows = Rows("regression", _FUSED.get(name) or _WRITTEN.get(name, "square"))
    if piece.other.get("written"):
        rows.op = "huber"
    rows.clip = piece.other.get("value_clip")
    if name in _FUSED:
        if not _held_against_zero(rows, piece, marks, values, room):
            _fused(rows, piece, values, room)
        return rows
    what = squared(node)
    base, at = (what.node, what.output) if what is not None else node.next_functions[0]
    difference, _ = difference_in(base)
    if difference is None or base is None:
        leaf = (marks.of(base) or piece.mark).tag == "leaf"
        rows.kind, rows.op, rows.source = ("other", "l2", node) if leaf else ("output", rows.op, node)
        put(rows, "output", values.of(base, at), piece.path, room)
        return rows
    _apart(rows, base, at, difference, piece.path, marks, values, room)
    return rows


def _apart(
    rows: Rows,
    base: Node | None,
    at: int,
    difference: Node,
    path: Path,
    marks: Marks,
    values: Values,
    room: int,
    known: Tensor | None = None,
) -> None:
    """The sides of a difference that lies somewhere beneath what is squared."""
    value = values.of(base, at) if known is None else known
    gap = None if value is None else as_rows(value, path)
    while base is not difference:
        base, at, path, gap = _beneath(base, at, path, gap)
        if base is None:
            return
    given = values.of(difference)
    if given is not None:
        gap = as_rows(given, path)
    _sides(rows, difference, path, gap, marks, values, room)


def _beneath(base: Node, at: int, path: Path, gap: Tensor | None) -> tuple[Node | None, int, Path, Tensor | None]:
    """One node further between what is squared and the subtraction: a sign, a factor, a view."""
    name = base_name(base)
    under = base.next_functions
    if name in VIEWS:
        return under[0][0], under[0][1], path.but(views=(*path.views, (base, at))), gap
    if name == "Neg":
        return under[0][0], under[0][1], path, None if gap is None else -gap
    if name in ("Mul", "Div"):
        place = 0 if under[0][0] is not None else 1
        other = saved(base, ("self", "other")[1 - place])
        if isinstance(other, Tensor) and gap is not None:
            factor = as_rows(other, path)
            gap = None if factor is None else (gap / factor if name == "Mul" else gap * factor)
        else:
            gap = None
        inner = shape_of(*under[place])
        if inner != shape_of(base, at):
            path = path.but(views=(*path.views, (None, shape_of(base, at))))
        return under[place][0], under[place][1], path, gap
    return under[0][0], under[0][1], path, None  # a clamp: what lay beneath is kept by it


def _sides(rows: Rows, node: Node, path: Path, gap: Tensor | None, marks: Marks, values: Values, room: int) -> None:
    """gap = sign · (prediction − target): which side is the prediction, and what the other one was."""
    under = node.next_functions
    shape = shape_of(node)
    edges = [under[0], under[1] if len(under) > 1 else (None, 0)]
    here = 0 if edges[0][0] is not None else 1
    both = all(each is not None for each, _ in edges)
    if both:
        pure = [is_output(each) for each, _ in edges]
        here = 1 if pure[1] and not pure[0] else 0
        rows.target = edges[1 - here][0]
    rows.attached["target"] = both
    sign = sign_of(base_name(node), here)
    source, at = edges[here]
    views: Path = path
    if shape_of(source, at) != shape:
        views = views.but(views=(*views.views, (None, shape)))
    # Data taken off one after the other: q − r − γ·q'.
    while (
        base_name(source) in ("Add", "Sub", "Rsub") and sum(each is not None for each, _ in source.next_functions) == 1
    ):
        following = source.next_functions
        place = 0 if following[0][0] is not None else 1
        if not is_output(following[place][0]):
            break
        sign *= sign_of(base_name(source), place)
        if shape_of(*following[place]) != shape_of(source, at):
            views = views.but(views=(*views.views, (None, shape_of(source, at))))
        source, at = following[place]
    rows.source, rows.at = source, at
    rows.shapes["prediction"] = shape_of(source, at)
    prediction = values.of(source, at)
    moved = None if prediction is None else as_rows(prediction, views)
    if moved is not None:
        rows.arrays["prediction"] = numpy_of(moved, room)
    elif gap is not None:
        rows.arrays["difference"] = numpy_of(gap * sign, room)
    if both:
        target = values.of(*edges[1 - here])
        rows.shapes["target"] = shape_of(*edges[1 - here])
        if target is not None:
            on = path.but(views=(*path.views, (None, shape))) if tuple(target.shape) != shape else path
            put(rows, "target", target, on, room)
            _put_spread(rows, as_rows(target, on), room)
    if "target" not in rows.arrays and moved is not None and gap is not None:
        target = moved - gap if sign > 0 else moved + gap
        rows.arrays["target"] = numpy_of(target, room)
        if not both and not path.views:
            rows.shapes["target"] = _before_broadcast(target, rows.shapes["prediction"], shape)
        _put_spread(rows, target, room)
    put_choice(rows, source, at, views, values, room)


def _before_broadcast(target: Tensor, prediction: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """A target that was broadcast is the same along the axis it was broadcast over: one that the prediction has."""
    if prediction == shape or not target.numel():
        return shape
    beside = (1,) * (len(shape) - len(prediction)) + prediction
    kept: list[int] = []
    near = 1e-5 * target.abs().max().item() + 1e-12
    for axis, long in enumerate(shape):
        first = target.narrow(axis, 0, 1)
        spread = long > 1 and beside[axis] == long and bool(((target - first).abs() <= near).all())
        kept.append(1 if spread else long)
    while len(kept) > 1 and kept[0] == 1 and shape[0] > 1:
        kept.pop(0)
    return tuple(kept)


def _put_spread(rows: Rows, target: Tensor | None, room: int) -> None:
    """Each of several predictions of a row against each of several targets of it: those targets, once."""
    own, whole = rows.shapes.get("target", ()), () if target is None else tuple(target.shape)
    if target is None or len(own) != len(whole) or len(whole) != 3 or own[0] != whole[0] or sorted(own[1:])[0] != 1:
        return
    if max(own[1:]) < 2 or min(whole[1:]) < 2:
        return
    once = target.select(1 if own[1] == 1 else 2, 0)
    rows.arrays["spread"] = numpy_of(once[: max(room // once.shape[1], 1)])


def _unexpanded(value: Tensor) -> tuple[int, ...]:
    """The shape before it was expanded: nothing is stored for an axis that was added."""
    kept = [1 if long > 1 and step == 0 else long for long, step in zip(value.shape, value.stride(), strict=True)]
    while kept and kept[0] == 1 and value.shape[value.dim() - len(kept)] > 1:
        kept.pop(0)
    return tuple(kept)


def _held_against_zero(rows: Rows, piece: Piece, marks: Marks, values: Values, room: int) -> bool:
    """`huber_loss(q - target, zeros)`: the difference was taken before, from what is no network's."""
    node = piece.node
    under = node.next_functions
    here = 0 if under[0][0] is not None else 1
    if len(under) > 1 and under[1 - here][0] is not None:
        return False
    gap, zeros = (saved(node, name) for name in (("self", "target") if not here else ("target", "self")))
    if not isinstance(gap, Tensor) or not isinstance(zeros, Tensor) or bool(zeros.any()):
        return False
    base, at = under[here]
    difference, _ = difference_in(base)
    if difference is None:
        return False
    if sum(each is not None for each, _ in difference.next_functions) != 1 and difference is not base:
        return False  # a network may well subtract within itself, before an action is chosen
    _apart(rows, base, at, difference, piece.path, marks, values, room, known=gap)
    return True


def _fused(rows: Rows, piece: Piece, values: Values, room: int) -> None:
    node = piece.node
    under = node.next_functions
    sides = [saved(node, "self"), saved(node, "target")]
    here = 0 if under[0][0] is not None else 1
    both = all(each is not None for each, _ in under)
    if both and is_output(under[1][0]) and not is_output(under[0][0]):
        here = 1
    source, at = under[here]
    if base_name(source) == "Expand":
        source, at = source.next_functions[0]
    rows.attached["target"] = both
    rows.target = under[1 - here][0] if both else None
    rows.source, rows.at = source, at
    rows.clip = rows.clip or (None if is_output(source) else clip_beneath(source))
    rows.shapes["prediction"] = shape_of(source, at)
    for name, value in (("prediction", sides[here]), ("target", sides[1 - here])):
        if isinstance(value, Tensor):
            put(rows, name, value, piece.path, room)
            if name == "target":
                expanded = rows.shapes["prediction"] != tuple(value.shape)
                rows.shapes["target"] = _unexpanded(value) if expanded else tuple(value.shape)
                _put_spread(rows, as_rows(value, piece.path), room)
    views = piece.path
    if rows.shapes["prediction"] != shape_of(under[here][0], under[here][1]):
        views = views.but(views=(*views.views, (None, shape_of(under[here][0], under[here][1]))))
    put_choice(rows, source, at, views, values, room)
