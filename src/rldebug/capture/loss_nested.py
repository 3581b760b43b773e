"""The smaller or the larger of two: clipped surrogates, clipped values, the lesser of two critics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from rldebug.capture.loss_forms import number_of, squared
from rldebug.capture.loss_mark import SQUARES, Clip, Mark
from rldebug.capture.loss_marks import Marks
from rldebug.capture.loss_nodes import LAYERS, VIEWS, Node, base_name, saved, shape_of
from rldebug.capture.loss_path import Next, Path, Piece, broadcast, constant_of, passes, weighted
from rldebug.capture.loss_values import Values


@dataclass(slots=True)
class Stripped:
    """A node beneath signs, numbers and weights."""

    node: Node
    output: int
    path: Path


def strip(node: Node | None, output: int, marks: Marks) -> Stripped | None:
    """Take off what is linear, along a single line."""
    if node is None:
        return None
    path = Path(shape=shape_of(node, output))
    for _ in range(32):
        name = base_name(node)
        under = node.next_functions
        mark = marks.of(node) or Mark("net")
        attached = [place for place, (each, _) in enumerate(under) if each is not None]
        if name == "Neg":
            path = path.times(-1.0)
            (node, output) = under[0]
        elif name in ("Mul", "Div") and mark.tag not in ("plogp",) and not (mark.tag == "ratio" and mark.of is node):
            if len(attached) == 2 and squared(node) is not None:
                break
            place = attached[0]
            if len(attached) == 2:
                tags = [(marks.of(each) or mark).tag for each, _ in under]
                known = [each for each in (0, 1) if tags[each] in ("ratio", "logp")]
                if not known or name == "Div":
                    break
                place = known[0]
                path = path.but(attached=(*path.attached, under[1 - place][0]))
            other = constant_of(node, 1 - place) if len(under) > 1 else None
            if other is None or (name == "Div" and place == 1):
                break
            path = weighted(
                broadcast(path, shape_of(node, output), *under[place]), other, name == "Div", len(path.views)
            )
            (node, output) = under[place]
        elif name in VIEWS and passes(node, mark):
            path = path.but(views=(*path.views, (node, output)))
            (node, output) = under[0]
        else:
            break
        if node is None:
            return None
    return Stripped(node, output, path)


def joined(outer: Path, inner: Path) -> Path:
    """One path after another."""
    above = len(outer.views)
    return outer.times(inner.coefficient).but(
        views=(*outer.views, *inner.views),
        weights=(*outer.weights, *((weight, at + above) for weight, at in inner.weights)),
        attached=(*outer.attached, *inner.attached),
        factors=(*outer.factors, *((inner.coefficient,) if inner.coefficient != 1.0 else ())),
    )


def nested_of(
    node: Node, output: int, name: str, mark: Mark, path: Path, marks: Marks, values: Values, found: list[Piece]
) -> Next | None:
    """The smaller or the larger of two, or one or the other by a condition."""
    under = list(node.next_functions)
    how = {"Minimum": "min", "Maximum": "max", "Min": "min", "Max": "max", "Where": "where"}[name]
    if name in ("Min", "Max"):
        each = under[0][0]
        if each is None or base_name(each) != "Stack" or len(each.next_functions) != 2:
            found.append(Piece("net" if mark.tag == "net" else mark.tag, node, output, mark, path, {"nested": how}))
            return []
        under = list(each.next_functions)
    if mark.tag == "ratio":
        found.append(Piece("ratio", node, output, mark, path))
        return []
    sides = [strip(each, at, marks) for each, at in under]
    bare = [each for each in sides if each is not None]
    tags = [(marks.of(each.node) or mark).tag for each in bare]
    if len(bare) == 1 and name == "Where":  # a mask: rows of the other side are data
        chosen = saved(node, "condition")
        place = 0 if under[0][0] is not None else 1
        if isinstance(chosen, Tensor):
            return [(*under[place], weighted(path, chosen if place == 0 else ~chosen, False, len(path.views)))]
    if (tags and all(each in SQUARES for each in tags)) or (name == "Where" and set(tags) & SQUARES):
        return _clipped_values(node, output, name, how, mark, path, bare, marks, found)
    policy = [each for each in bare if (marks.of(each.node) or mark).tag == "ratio"]
    if policy:
        _surrogate(node, output, how, path, bare, sides, marks, found)
        return []
    deeper = [each for each in bare if base_name(each.node) in ("Minimum", "Maximum", "Where")]
    if len(deeper) == 1 and len(bare) == 1:  # clipped twice, the outer time by data
        on = joined(path, deeper[0].path).but(nested=f"{how} of ")
        return [(deeper[0].node, deeper[0].output, on)]
    if mark.tag == "net":
        found.append(Piece("net", node, output, mark, path.but(nested=how)))
        return []
    return None


def _surrogate(
    node: Node,
    output: int,
    how: str,
    path: Path,
    bare: list[Stripped],
    sides: list[Stripped | None],
    marks: Marks,
    found: list[Piece],
) -> None:
    """min(ratio·A, clip(ratio)·A), or max of its negative."""
    clips = [getattr(marks.of(each.node), "clip", None) for each in bare]
    free = next((at for at, clip in enumerate(clips) if clip is None), 0)
    clip: Clip | None = next((each for each in clips if each is not None), None)
    on = joined(path, bare[free].path)
    other: dict[str, Any] = {"clip": clip, "outer": path.coefficient}
    if len(bare) == 1:  # the bound is data: (1 ± ε)·A, chosen by the sign of A
        missing = 0 if sides[0] is None else 1
        other["bound"] = saved(node, ("self", "other")[missing])
        other["bounded"] = bare[0].path
    else:
        other["clipped"] = bare[1 - free].path
        beside = bare[1 - free].node
        if clip is None and base_name(beside) == "Clamp":  # the product is held back, and not the ratio
            other["product"] = (number_of(saved(beside, "min")), number_of(saved(beside, "max")))
    mark = marks.of(bare[free].node) or Mark("ratio")
    other["top"] = node
    found.append(Piece("clipped", bare[free].node, bare[free].output, mark, on.but(nested=on.nested + how), other))


def _clipped_values(
    node: Node,
    output: int,
    name: str,
    how: str,
    mark: Mark,
    path: Path,
    bare: list[Stripped],
    marks: Marks,
    found: list[Piece],
) -> Next | None:
    squares = [each for each in bare if (marks.of(each.node) or mark).tag in SQUARES]
    if name == "Where":  # a Huber loss written out
        small = next((each for each in squares if (marks.of(each.node) or mark).tag == "square"), squares[0])
        on = joined(path, small.path)
        here = marks.of(small.node) or mark
        found.append(Piece("huber", small.node, small.output, here, on, {"written": True, "top": node}))
        return []
    bounds = [clip_beneath(each.node) for each in squares]
    free = next((at for at, each in enumerate(bounds) if each is None), 0)
    clip = next((each for each in bounds if each is not None), None)
    on = joined(path, squares[free].path).but(nested=how)
    here = marks.of(squares[free].node) or mark
    found.append(
        Piece(
            here.tag,
            squares[free].node,
            squares[free].output,
            here,
            on,
            {"value_clip": clip, "outer": path.coefficient, "top": node},
        )
    )
    return []


def clip_beneath(node: Node) -> Clip | None:
    """Bounds of a clamp a few nodes beneath, before any layer."""
    todo: list[tuple[Node | None, int]] = [(node, 0)]
    while todo:
        each, deep = todo.pop()
        if each is None or deep > 8 or base_name(each) in LAYERS:
            continue
        if base_name(each) == "Clamp":
            low, high = saved(each, "min"), saved(each, "max")
            return number_of(low), number_of(high)
        todo += [(following, deep + 1) for following, _ in each.next_functions]
    return None
