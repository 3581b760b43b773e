"""A graph of thousands of operations, folded into what fits on a screen.

Modules are one box each. Between them, as finely as fits: every operation by itself; else those that do the same with
the same in one box, with a count, like the 128 log-probs of a rollout; else all that lies between the same modules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rldebug.evidence.graph import Arrow, Box
from rldebug.evidence.graphs.units import VIEWS, Units
from rldebug.evidence.graphs.walk import Walk

_BOXES = 32  # of operations
_MANY = 2000  # different ones that cannot come down to so few
_FEW = 24  # that are drawn each by itself, alike or not
_SUMS = frozenset(("add", "sub"))
_TERMS = 3  # additions of one sum that are named each
_GROWING = (_SUMS, frozenset(("copy_slices",)), frozenset(("cat",)))  # chains of these are one operation


@dataclass
class Part:
    """A box in the making."""

    nodes: list[int]
    names: list[str] = field(default_factory=list)
    times: int = 1


def fold(walked: Walk, units: Units) -> tuple[list[Box], list[Arrow]]:
    """Boxes of modules, operations and losses, and the arrows between them."""
    order, names = walked.order(), list(walked.roots)
    through = _through(walked, units)
    merged = _merged(walked, units, order, through)
    for how, most in (("each", _FEW), ("alike", _BOXES), ("between", len(walked.names))):
        if how == "each" and len(order) > _MANY:
            continue
        kinds = _kinds(walked, units, order, through, merged, how)
        if how != "between" and len(set(kinds)) > _MANY:
            continue
        parts, arrows = _quotient(walked, kinds, through, merged, how)
        parts, arrows = _chained(parts, arrows, units)
        if sum(key[0] == "op" for key in parts) <= most:
            break
    return _drawn(walked, units, parts, arrows, names)


Key = tuple[str, int]  # ("unit", 3), ("op", 17), ("loss", 0)
Arrows = dict[tuple[Key, Key], list[int]]  # the nodes whose output goes along it


def _through(walked: Walk, units: Units) -> list[int]:
    """For every node the one that stands for it: a view of something is drawn as that."""
    stands = list(range(len(walked.names)))
    for node in reversed(walked.order()):
        taken = [each for each in walked.inputs[node] if each >= 0]
        if units.of[node] < 0 and len(taken) == 1 and len(walked.inputs[node]) == 1 and walked.names[node] in VIEWS:
            stands[node] = stands[taken[0]]
    return stands


def _merged(walked: Walk, units: Units, order: list[int], through: list[int]) -> list[int]:
    """A sum of sums is one sum: each of its additions is led to the last one."""
    last = list(range(len(walked.names)))
    takers: list[set[int]] = [set() for _ in walked.names]
    for node in order:
        if through[node] != node:
            continue
        for each in walked.inputs[node]:
            if each >= 0:
                takers[through[each]].add(node)
    for node in order:
        if units.of[node] >= 0 or through[node] != node or len(takers[node]) != 1:
            continue
        (taker,) = takers[node]
        alike = any(walked.names[node] in kind and walked.names[taker] in kind for kind in _GROWING)
        if alike and units.of[taker] < 0 and units.losses[taker] == units.losses[node]:
            last[node] = last[taker]
    return last


def _kinds(walked: Walk, units: Units, order: list[int], through: list[int], merged: list[int], how: str) -> list[Key]:
    """What each node is drawn as."""
    fixed = [units.leaf.get(node, units.of[node]) for node in range(len(walked.names))]
    above, beneath = _around(walked, order, fixed) if how == "between" else ([], [])
    ids: dict[object, int] = {}
    drawn: list[Key] = [("unit", unit) for unit in fixed]
    members: dict[int, list[int]] = {}
    for node, head in enumerate(merged):
        members.setdefault(head, []).append(node)
    for node in reversed(order):
        if fixed[node] >= 0 or through[node] != node or merged[node] != node:
            continue
        key: object = node
        if how == "alike":
            taken = frozenset(
                drawn[through[each]]
                for member in members[node]
                for each in walked.inputs[member]
                if each >= 0 and merged[through[each]] != node
            )
            key = (walked.names[node], units.losses[node], len(members[node]), len(walked.inputs[node]), taken)
        elif how == "between":
            key = (units.losses[node], above[node], beneath[node])
        drawn[node] = ("op", ids.setdefault(key, len(ids)))
    return [drawn[merged[through[node]]] for node in range(len(walked.names))]


def _around(walked: Walk, order: list[int], fixed: list[int]) -> tuple[list[int], list[int]]:
    """The nearest modules above and beneath each operation, as bits."""
    above, beneath = [0] * len(fixed), [0] * len(fixed)
    for node in order:
        bits = 1 << fixed[node] if fixed[node] >= 0 else above[node]
        for each in walked.inputs[node]:
            if each >= 0:
                above[each] |= bits
    for node in reversed(order):
        for each in walked.inputs[node]:
            if each >= 0:
                beneath[node] |= 1 << fixed[each] if fixed[each] >= 0 else beneath[each]
    return above, beneath


def _quotient(
    walked: Walk, kinds: list[Key], through: list[int], merged: list[int], how: str
) -> tuple[dict[Key, Part], Arrows]:
    parts: dict[Key, Part] = {}
    arrows: Arrows = {}
    for node, key in enumerate(kinds):
        if through[node] == node and node not in walked.leaves:
            part = parts.setdefault(key, Part([]))
            part.nodes.append(node)
    for key, part in parts.items():
        if key[0] == "op":
            part.names, part.times = _called(walked, part.nodes, merged)
            if how == "between" and len(part.nodes) > 1:
                counts = Counter(walked.names[node] for node in reversed(part.nodes))
                part.names = [name if count == 1 else f"{name} ×{count}" for name, count in counts.items()]
                part.times = 1
    for node, key in enumerate(kinds):
        if through[node] != node:
            continue
        for each in walked.inputs[node]:
            if each < 0:
                continue
            if kinds[each] not in parts:
                parts[kinds[each]] = Part([])  # a parameter by itself
            if kinds[each] != key:
                arrows.setdefault((kinds[each], key), []).append(through[each])
            elif key[0] == "op" and how != "between" and merged[node] != merged[through[each]]:
                arrows.setdefault((key, key), []).append(each)
    for number, root in enumerate(walked.roots.values()):
        if root >= 0:
            parts.setdefault(kinds[root], Part([]))
            parts[("loss", number)] = Part([root])
            arrows.setdefault((kinds[root], ("loss", number)), []).append(through[root])
    return parts, arrows


def _called(walked: Walk, nodes: list[int], merged: list[int]) -> tuple[list[str], int]:
    """The names of what one box does, and how often it is done."""
    heads = {merged[node] for node in nodes}
    own = [node for node in nodes if merged[node] == merged[nodes[0]]]
    if len(own) <= _TERMS:
        names = [walked.names[node] for node in own][::-1]
    elif walked.names[own[0]] in _SUMS:
        names = [f"sum of {len(own) + 1}"]
    else:
        names = [f"{walked.names[own[0]]} ×{len(own)}"]
    return names, len(heads)


def _chained(parts: dict[Key, Part], arrows: Arrows, units: Units) -> tuple[dict[Key, Part], Arrows]:
    """Operations that follow one another without a branch become one box."""
    after: dict[Key, set[Key]] = {}
    before: dict[Key, set[Key]] = {}
    for source, target in arrows:
        after.setdefault(source, set()).add(target)
        before.setdefault(target, set()).add(source)

    def joins(key: Key) -> Key | None:
        """What `key` is the only one to lead to, and that takes from nothing else."""
        following = after.get(key, set())
        if key[0] != "op" or len(following) != 1:
            return None
        (target,) = following
        if target[0] != "op" or before[target] != {key} or parts[target].times != parts[key].times:
            return None
        alike = units.losses[parts[key].nodes[0]] == units.losses[parts[target].nodes[0]]
        return target if alike and target != key else None

    lead: dict[Key, Key] = {}
    folded: dict[Key, Part] = {}
    followed = {joined for key in parts if (joined := joins(key)) is not None}
    for key, part in parts.items():
        if key in followed:
            continue
        chain, following = {key: None}, joins(key)
        while following is not None and following not in chain:
            chain[following] = None
            following = joins(following)
        for each in chain:
            lead[each] = key
        nodes = [node for each in chain for node in parts[each].nodes]
        folded[key] = Part(nodes, [name for each in chain for name in parts[each].names], part.times)
    for key, part in parts.items():  # a ring of operations that nothing leads into
        if key not in lead:
            lead[key], folded[key] = key, part
    kept: Arrows = {}
    for (source, target), nodes in arrows.items():
        if lead[source] != lead[target] or source == target:
            kept.setdefault((lead[source], lead[target]), []).extend(nodes)
    return folded, kept


def _drawn(
    walked: Walk, units: Units, parts: dict[Key, Part], arrows: Arrows, names: list[str]
) -> tuple[list[Box], list[Arrow]]:
    uses = walked.uses()
    boxes: list[Box] = []
    place: dict[Key, int] = {}
    shown = [("unit", i) for i in range(len(units.names))]
    for key in [*shown, *(each for each in parts if each[0] != "unit")]:
        part = parts.get(key, Part([]))
        place[key] = len(boxes)
        saved = sum(walked.saved[node] for node in part.nodes)
        if key[0] == "unit":
            items = [each for each in units.items if each.unit == key[1]]
            trained = [tensor for each in items for tensor in each.tensors if tensor.requires_grad]
            mask = 0
            for each in items:
                mask |= each.losses
            boxes.append(
                Box(
                    "module",
                    units.names[key[1]],
                    times=max((uses[node] for node, each in units.leaf.items() if each == key[1]), default=1),
                    losses=_losses(mask, names),
                    tensors=len(trained),
                    weights=sum(each.numel() for each in trained),
                    saved=saved,
                    module=units.modules[key[1]],
                )
            )
        elif key[0] == "loss":
            boxes.append(Box("loss", names[key[1]], losses=(names[key[1]],)))
        else:
            mask = units.losses[part.nodes[0]]
            title = " · ".join(part.names)
            boxes.append(Box("operations", title, tuple(part.names), part.times, _losses(mask, names), saved=saved))
    drawn = []
    for (source, target), nodes in arrows.items():
        mask = 0
        for node in nodes:
            mask |= units.losses[node]
        reached = set(_losses(mask, names)) & set(boxes[place[target]].losses)
        shapes = {walked.shapes[node] for node in nodes}
        shape = next(iter(shapes)) if len(shapes) == 1 else None
        drawn.append(
            Arrow(
                place[source],
                place[target],
                len(nodes),
                "" if shape is None else "×".join(map(str, shape)),
                tuple(each for each in names if each in reached),
            )
        )
    return boxes, drawn


def _losses(mask: int, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for bit, name in enumerate(names) if mask >> bit & 1)
