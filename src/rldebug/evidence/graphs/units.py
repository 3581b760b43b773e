"""Which operation of a graph is a part of which module: told by the parameters that it takes, not by names.

A module is one unit where it is passed through as a whole. It falls into its children where losses lead to some of its
parameters and not to others, or where the children stand side by side: an actor and a critic in one agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from rldebug.evidence.graphs.walk import Walk

VIEWS = frozenset(
    {
        "t",
        "transpose",
        "permute",
        "view",
        "unsafe_view",
        "reshape",
        "reshape_alias",
        "expand",
        "squeeze",
        "unsqueeze",
        "select",
        "slice",
        "alias",
        "to_copy",
        "clone",
        "as_strided",
    }
)
ACTIVATIONS = frozenset(
    {
        "relu",
        "leaky_relu",
        "tanh",
        "sigmoid",
        "elu",
        "gelu",
        "silu",
        "softplus",
        "mish",
        "hardtanh",
        "prelu",
        "native_layer_norm",
    }
)
_LAYERS = frozenset({"mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "linear", "convolution", "embedding"})
_CHILDREN = 12  # side by side; with more the picture tells less
_UNITS = 24  # of one module
_STRANGERS = 4  # leaves of no module that are drawn each by itself


@dataclass
class Item:
    """Parameters that go together: those of one layer."""

    name: str
    path: tuple[str, ...]  # of modules, the outermost first
    tensors: list[Tensor]
    names: list[str]
    losses: int = 0  # bits of those that lead to it
    trainable: bool = True
    bare: bool = False  # a parameter by itself, of no layer: what is done with it is done by the program
    below: int = 0  # bits of items that its operations take from
    unit: int = -1


@dataclass
class Units:
    names: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    losses: list[int] = field(default_factory=list)  # of each node: bits of the losses that lead to it
    of: list[int] = field(default_factory=list)  # of each node: its unit; −1 for operations between modules
    owns: list[int] = field(default_factory=list)  # likewise, only of operations that take a parameter
    leaf: dict[int, int] = field(default_factory=dict)  # node of a leaf -> its unit


def units_of(walked: Walk, modules: Mapping[str, nn.Module | Tensor]) -> Units:
    order = walked.order()
    found = Units(losses=losses_of(walked, order))
    place = {id(leaf): node for node, leaf in walked.leaves.items()}
    found.items = _items(modules, place, found.losses)
    item_of = {id(each): i for i, item in enumerate(found.items) for each in item.tensors}
    of_leaf = {node: item_of.get(id(leaf), -1) for node, leaf in walked.leaves.items()}
    own = _owners(walked, order, of_leaf, found.items)
    _measure(walked, order, own, of_leaf, found.items)
    for name, module in modules.items():
        mine = [each for each in found.items if each.path[0] == name]
        parts = _parts(name, module, mine) if isinstance(module, nn.Module) else [(name, mine)]
        if len(parts) > _UNITS:
            parts = _by_loss(name, mine)
        for title, items in parts:
            for each in items:
                each.unit = len(found.names)
            found.names.append(title)
            found.modules.append(name if isinstance(module, nn.Module) else "")
    _strangers(walked, found, of_leaf)
    found.owns = [found.items[each].unit if each >= 0 else -1 for each in own]
    found.leaf = {node: found.items[each].unit for node, each in of_leaf.items()}
    found.of = _inside(walked, order, found.owns, len(found.names))
    return found


def losses_of(walked: Walk, order: Iterable[int]) -> list[int]:
    reached = [0] * len(walked.names)
    for bit, root in enumerate(walked.roots.values()):
        if root >= 0:
            reached[root] |= 1 << bit
    for node in order:
        for below in walked.inputs[node]:
            if below >= 0:
                reached[below] |= reached[node]
    return reached


def _items(modules: Mapping[str, Any], place: Mapping[int, int], losses: list[int]) -> list[Item]:
    items: list[Item] = []
    seen: set[int] = set()

    def reached(tensor: Tensor) -> int:
        node = place.get(id(tensor))
        return 0 if node is None else losses[node]

    def add(path: tuple[str, ...], named: list[tuple[str, Tensor]], bare: bool = False) -> None:
        if named:
            name = ".".join(path) if len(named) > 1 else named[0][0]
            tensors = [each for _, each in named]
            mask = 0
            for each in tensors:
                mask |= reached(each)
            free = any(each.requires_grad for each in tensors)
            items.append(Item(name, path, tensors, [each for each, _ in named], mask, free, bare))

    for root, module in modules.items():
        if isinstance(module, Tensor):
            if id(module) not in seen:
                seen.add(id(module))
                add((root,), [(root, module)], bare=True)
            continue
        for where, layer in module.named_modules():
            path = (root, *where.split(".")) if where else (root,)
            named = []
            for name, each in layer.named_parameters(recurse=False):
                if id(each) not in seen:
                    seen.add(id(each))
                    named.append((".".join((*path, name)), each))
            apart = len({reached(each) for _, each in named if each.requires_grad}) > 1
            if apart or any(next(each.parameters(), None) is not None for each in layer.children()):
                for one in named:
                    add((*path, one[0].rpartition(".")[2]), [one], bare=not apart)
            else:
                add(path, named)
    return items


def _owners(walked: Walk, order: list[int], of_leaf: Mapping[int, int], items: list[Item]) -> list[int]:
    """The item whose parameters an operation takes: by itself, or as a view of them. Views are not calls."""
    own, view = [-1] * len(walked.names), [False] * len(walked.names)
    for node in reversed(order):
        taken = [each for each in walked.inputs[node] if each >= 0]
        looks = len(taken) == 1 and walked.names[node] in VIEWS
        for below in taken:
            item = of_leaf.get(below, own[below] if view[below] else -1)
            layer = looks or walked.names[node] in _LAYERS
            if item >= 0 and own[node] < 0 and (layer or not items[item].bare):
                own[node] = item
        view[node] = own[node] >= 0 and looks
    return own


def _measure(walked: Walk, order: list[int], own: list[int], of_leaf: Mapping[int, int], items: list[Item]) -> None:
    """What lies beneath each item: beneath its operations, and beneath those that take it as it is."""
    below = [0] * len(walked.names)
    for node in reversed(order):
        beneath, taken = 0, {own[node]} if own[node] >= 0 else set()
        for each in walked.inputs[node]:
            if each >= 0:
                beneath |= below[each]
                taken.add(of_leaf.get(each, -1))
        for number in taken - {-1}:
            items[number].below |= beneath & ~(1 << number)
            beneath |= 1 << number
        below[node] = beneath
    for i, item in enumerate(items):
        item.unit = i  # its bit, until units are made


def _parts(name: str, module: nn.Module, items: list[Item], depth: int = 1) -> list[tuple[str, list[Item]]]:
    groups: dict[str, list[Item]] = {}
    for each in items:
        groups.setdefault(each.path[depth] if len(each.path) > depth else "", []).append(each)
    uniform = len({each.losses for each in items if each.trainable}) <= 1
    if len(groups) < 2 and len(items) < 2:
        return [(name, items)] if items else []
    whole = isinstance(module, nn.Sequential) or len(groups) > _CHILDREN or _in_a_row(list(groups.values()))
    if uniform and whole and (len(groups) > 1 or "" in groups):
        return [(name, items)]
    parts: list[tuple[str, list[Item]]] = []
    for keys in _rows(groups) if uniform else [[each] for each in groups]:
        key, mine = keys[0], [item for each in keys for item in groups[each]]
        if len(keys) > 1:
            parts.append((f"{name}.{key} … {keys[-1]}", mine))
            continue
        child = getattr(module, key, None) if key else None
        title = f"{name}.{key}" if key else name
        parts += _parts(title, child, mine, depth + 1) if isinstance(child, nn.Module) else [(title, mine)]
    if uniform and len(groups) == 1 and len(parts) == 1:
        return [(name, items)]  # a wrapper around one module: the name that the user gave is the better one
    return parts


def _in_a_row(groups: list[list[Item]]) -> bool:
    """Whether of every two that are reached one takes from the other."""
    known = [each for each in groups if any(item.losses for item in each)]
    return all(_takes(one, other) != (False, False) for i, one in enumerate(known) for other in known[i + 1 :])


def _rows(groups: dict[str, list[Item]]) -> list[list[str]]:
    """Children that stand to all others alike, and in a row themselves: they are drawn as one."""
    rows: list[list[str]] = []
    for key, group in groups.items():
        last = groups[rows[-1][-1]] if rows and key and rows[-1][-1] else []
        others = [each for other, each in groups.items() if not rows or other not in (key, rows[-1][-1])]
        if last and _takes(group, last)[0] and all(_takes(each, group) == _takes(each, last) for each in others):
            rows[-1].append(key)
        else:
            rows.append([key])
    return rows


def _takes(one: list[Item], other: list[Item]) -> tuple[bool, bool]:
    """Whether one takes from the other, and the other from it."""
    below, beneath = _or(each.below for each in one), _or(each.below for each in other)
    return any(below >> each.unit & 1 for each in other), any(beneath >> each.unit & 1 for each in one)


def _by_loss(name: str, items: list[Item]) -> list[tuple[str, list[Item]]]:
    groups: dict[int, list[Item]] = {}
    for each in items:
        groups.setdefault(each.losses if each.trainable else -1, []).append(each)
    return [(name if len(groups) == 1 else f"{name} (part {i})", each) for i, each in enumerate(groups.values(), 1)]


def _strangers(walked: Walk, found: Units, of_leaf: dict[int, int]) -> None:
    """Leaves of no module that was given: a learned temperature, or an input that asks for a gradient."""
    nodes = [node for node, item in of_leaf.items() if item < 0]
    groups: dict[int, list[int]] = {}
    for node in nodes:
        groups.setdefault(node if len(nodes) <= _STRANGERS else -found.losses[node], []).append(node)
    for group in groups.values():
        leaves = [walked.leaves[node] for node in group]
        kind = "parameter" if all(isinstance(each, nn.Parameter) for each in leaves) else "tensor"
        titles = [f"{kind} of no module ({'×'.join(map(str, each.shape)) or 'a number'})" for each in leaves]
        title = titles[0] if len(group) == 1 else f"{len(group)} {kind}s of no module"
        losses = _or(found.losses[node] for node in group)
        for node in group:
            of_leaf[node] = len(found.items)
        found.items.append(Item(title, (title,), leaves, titles, losses, bare=True, unit=len(found.names)))
        found.names.append(title)
        found.modules.append("")


def _inside(walked: Walk, order: list[int], own: list[int], units: int) -> list[int]:
    """An operation without parameters belongs to a unit where it lies between two that take them; so do those that are
    like it (the last step of a recurrent cell has none above it), and an activation belongs to what it follows."""
    count = len(walked.names)
    above, beneath = [0] * count, [0] * count
    for node in order:
        bits = 1 << own[node] if own[node] >= 0 else above[node]
        for each in walked.inputs[node]:
            if each >= 0:
                above[each] |= bits
    of = list(own)
    alike: dict[tuple[int, str], list[set[str]]] = {}
    likely: list[tuple[int, int, set[str]]] = []
    for node in reversed(order):
        taken = [each for each in walked.inputs[node] if each >= 0 and each not in walked.leaves]
        for each in taken:
            beneath[node] |= 1 << own[each] if own[each] >= 0 else beneath[each]
        bits = beneath[node]
        if of[node] >= 0 or not bits or bits & (bits - 1):
            continue
        unit, names = bits.bit_length() - 1, {walked.names[each] for each in taken}
        if bits & above[node]:
            of[node] = unit
            known = alike.setdefault((unit, walked.names[node]), [])
            if names not in known:
                known.append(names)
        else:
            likely.append((node, unit, names))
    for node, unit, names in likely:
        follows = walked.names[node] in ACTIVATIONS and len(names) == 1 and of[walked.inputs[node][0]] == unit
        if follows or any(names <= each for each in alike.get((unit, walked.names[node]), ())):
            of[node] = unit
    return of


def _or(bits: Iterable[int]) -> int:
    whole = 0
    for each in bits:
        whole |= each
    return whole
