"""What in a graph tells of a mistake: seen in the flow of data, in whoever's names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rldebug.evidence.graphs.units import VIEWS, Units
from rldebug.evidence.graphs.walk import Walk

_REGRESSIONS = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss")
_STACKS = ("stack", "cat", "copy_slices")
_STEPS = 8  # that are stacked, at least: fewer are the parts of one observation, or an ensemble
_LOOKED_AT = 8  # stacks
_DEEP = 64


def signs_of(walked: Walk, units: Units) -> list[dict[str, Any]]:
    losses = list(walked.roots)
    found = [*_bootstraps(walked, units), *_stacked(walked, units), *_beside(walked, units)]
    for each in found:
        mask = each.pop("mask")
        each["losses"] = [name for bit, name in enumerate(losses) if mask >> bit & 1]
    return [dict(each) for each in {str(each): each for each in found}.values()]


# ── a target that carries a graph ───────────────────────────────────────────────────────────────────────────────────


def _bootstraps(walked: Walk, units: Units) -> Iterator[dict[str, Any]]:
    """Both sides of a regression carry a graph, and one of them is a reward and a discounted value."""
    for node, name in enumerate(walked.names):
        sides = _sides(walked, node)
        if units.of[node] >= 0 or len(sides) != 2 or min(sides) < 0:
            continue
        for side, other in (sides[::-1], sides):
            if _discounted(walked, units, side):
                yield {
                    "kind": "bootstrap",
                    "mask": units.losses[node],
                    "operation": name if name in _REGRESSIONS else "squared difference",
                    "units": [units.names[each] for each in _nearest(walked, units, side)],
                    "predicted": [units.names[each] for each in _nearest(walked, units, other)],
                    "shape": list(walked.shapes[side] or ()),
                }
                break


def _sides(walked: Walk, node: int) -> tuple[int, ...]:
    """What is compared: of a regression loss, or of a difference that is squared."""
    name, taken = walked.names[node], walked.inputs[node]
    if name in _REGRESSIONS:
        return taken[:2]
    squared = (name in ("pow", "abs") and len(taken) == 1) or (
        name == "mul" and len(taken) == 2 == taken.count(taken[0])
    )
    if squared and taken[0] >= 0:
        inner = _past_views(walked, taken[0])
        if walked.names[inner] == "sub":
            return walked.inputs[inner]
    return ()


def _discounted(walked: Walk, units: Units, node: int) -> bool:
    """Something without a graph is added, and what it is added to is multiplied by something without one."""
    added = scaled = False
    for _ in range(_DEEP):
        node = _past_views(walked, node)
        taken = [each for each in walked.inputs[node] if each >= 0]
        if units.of[node] >= 0 or not taken:
            return False
        alone = len(taken) == 1 and len(walked.inputs[node]) == 2
        added = added or (alone and walked.names[node] in ("add", "sub"))
        scaled = scaled or (added and alone and walked.names[node] == "mul")
        if added and scaled:
            return True
        if len(taken) > 1:
            return False
        node = taken[0]
    return False


def _past_views(walked: Walk, node: int) -> int:
    for _ in range(_DEEP):
        if walked.names[node] not in VIEWS or len(walked.inputs[node]) != 1 or walked.inputs[node][0] < 0:
            break
        node = walked.inputs[node][0]
    return node


def _nearest(walked: Walk, units: Units, start: int, most: int = 2000) -> list[int]:
    """The first modules below."""
    todo, seen, found = [start], {start}, set()
    while todo and len(seen) < most:
        node = todo.pop()
        unit = units.leaf.get(node, units.of[node])
        if unit >= 0:
            found.add(unit)
            continue
        for each in walked.inputs[node]:
            if each >= 0 and each not in seen:
                seen.add(each)
                todo.append(each)
    return sorted(found)


# ── data of many steps that carry a graph ───────────────────────────────────────────────────────────────────────────


def _stacked(walked: Walk, units: Units) -> Iterator[dict[str, Any]]:
    """What a module gave at single steps, put together, meets what the same module gives for the batch."""
    takers: list[list[int]] | None = None
    looked = 0
    for node, name in enumerate(walked.names):
        if name not in _STACKS or units.of[node] >= 0 or looked >= _LOOKED_AT:
            continue
        takers = takers or walked.takers()
        if name == "copy_slices" and any(walked.names[each] == name for each in takers[node]):
            continue  # the last one of the chain stands for all
        parts = _put_together(walked, node)
        if len(parts) < _STEPS:
            continue
        looked += 1
        modules = set(_nearest(walked, units, parts[0])) & set(_nearest(walked, units, parts[-1]))
        for unit in sorted(modules):
            below = _below(walked, node)
            rows = {_rows(walked, each) for each in below if units.owns[each] == unit and _rows(walked, each)}
            batch = _met(walked, units, takers, node, below, unit, max(rows, default=0))
            if rows and batch:
                yield {
                    "kind": "stacked",
                    "mask": units.losses[node],
                    "operation": name,
                    "unit": units.names[unit],
                    "steps": len(parts),
                    "rows": max(rows),
                    "batch": batch,
                }


def _put_together(walked: Walk, node: int) -> list[int]:
    if walked.names[node] != "copy_slices":
        return [each for each in walked.inputs[node] if each >= 0]
    parts = []
    while node >= 0 and walked.names[node] == "copy_slices":
        parts += [each for each in walked.inputs[node][1:] if each >= 0]
        node = walked.inputs[node][0]
    return parts


def _below(walked: Walk, start: int) -> set[int]:
    todo, seen = [start], {start}
    while todo:
        for each in walked.inputs[todo.pop()]:
            if each >= 0 and each not in seen:
                seen.add(each)
                todo.append(each)
    return seen


def _rows(walked: Walk, node: int) -> int:
    shape = walked.shapes[node]
    return shape[0] if shape is not None and len(shape) > 1 and walked.names[node] not in VIEWS else 0


def _met(walked: Walk, units: Units, takers: list[list[int]], start: int, below: set[int], unit: int, rows: int) -> int:
    """Rows of the larger call that it meets above, while both still have rows; 0 where it meets none."""
    todo, above = [start], {start}
    while todo:
        for node in takers[todo.pop()]:
            if node in above or units.of[node] >= 0:
                continue
            above.add(node)
            for other in walked.inputs[node]:
                if other >= 0 and other not in above and other not in below and walked.shapes[other] != ():
                    calls = [_rows(walked, each) for each in _below(walked, other) - below if units.owns[each] == unit]
                    if max(calls, default=0) > rows:
                        return max(calls)
            if walked.shapes[node] not in ((), (1,)):
                todo.append(node)
    return 0


# ── a loss that trains a module beside its own ──────────────────────────────────────────────────────────────────────


def _beside(walked: Walk, units: Units) -> Iterator[dict[str, Any]]:
    """A loss leads to its own module, and beside it to one that another loss trains: not through it, and not to it."""
    roots = list(walked.roots.values())
    if len(roots) < 2:
        return
    names = list(walked.roots)
    reached = [0] * len(units.names)
    for item in units.items:
        reached[item.unit] |= item.losses
    shared = {
        units.losses[node] for node, shape in enumerate(walked.shapes) if shape == () and units.of[node] < 0
    }  # losses that have a finished term in common: one is a part of the other
    exclusive = [
        [each for each, mask in enumerate(reached) if mask == 1 << bit and units.modules[each]]
        for bit in range(len(names))
    ]
    below = [_units_below(walked, units, bit) for bit in range(len(names))]

    def through(bit: int, unit: int) -> bool:
        """Whether a loss passes through a unit to train one of its own."""
        return any(below[bit][unit] >> each & 1 for each in exclusive[bit])

    for bit, own in enumerate(exclusive):
        for unit, mask in enumerate(reached if own else ()):
            if not mask >> bit & 1 or not units.modules[unit] or unit in own or through(bit, unit):
                continue
            if any(below[bit][each] >> unit & 1 for each in own):
                continue
            others = [
                other
                for other in range(len(names))
                if other != bit
                and mask >> other & 1
                and not through(other, unit)
                and not any(each >> bit & 1 and each >> other & 1 for each in shared)
            ]
            if not others:
                continue
            yield {
                "kind": "beside",
                "mask": 1 << bit,
                "unit": units.names[unit],
                "own": units.names[own[0]],
                "other": names[others[0]],
            }


def _units_below(walked: Walk, units: Units, bit: int) -> list[int]:
    """For each unit the bits of those that lie beneath it, in the graph of one loss."""
    low = [0] * len(walked.names)
    found = [0] * len(units.names)
    for node in reversed(walked.order()):
        if not units.losses[node] >> bit & 1:
            continue
        beneath, taken = 0, {units.leaf.get(node, units.of[node])}
        for each in walked.inputs[node]:
            if each >= 0:
                beneath |= low[each]
                taken.add(units.leaf.get(each, -1))
        for unit in taken - {-1}:
            found[unit] |= beneath
            beneath |= 1 << unit
        low[node] = beneath
    return [each & ~(1 << unit) for unit, each in enumerate(found)]
