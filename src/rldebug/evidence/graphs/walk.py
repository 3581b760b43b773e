"""The graph behind some losses, walked once and written down in lists: operations by number, and what each takes.

Nothing here runs a backward pass, or unpacks what was saved under hooks: activation checkpointing would run the
forward pass again. Nodes are not kept: they would keep all that they have saved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

NODES = 500_000  # that are walked at most
# Nodes from a loss down. A node that Python has looked at is freed by a call within the call that frees the one above
# it (pytorch#5534 came back that way): forty thousand of them in a row and the program dies as it lets go of the loss.
_DEEP = 5_000
_LEAF = (1 << 64) - 1  # sequence number of an AccumulateGrad
_saved_names: dict[type, tuple[str, ...]] = {}
_plain: dict[str, str] = {}


@dataclass
class Walk:
    """Node i is called names[i] and takes the outputs of inputs[i]; −1 stands for an input without a graph."""

    roots: dict[str, int] = field(default_factory=dict)  # of each loss; −1 where it carries no graph
    names: list[str] = field(default_factory=list)
    inputs: list[tuple[int, ...]] = field(default_factory=list)
    shapes: list[tuple[int, ...] | None] = field(default_factory=list)
    made: list[int] = field(default_factory=list)  # when: larger is later; −1 where that is not known
    saved: list[int] = field(default_factory=list)  # bytes
    leaves: dict[int, Tensor] = field(default_factory=dict)
    freed: bool = False
    bounded: bool = False

    def order(self) -> list[int]:
        """Every node before those that it takes from."""
        waiting = [0] * len(self.names)
        for taken in self.inputs:
            for each in taken:
                if each >= 0:
                    waiting[each] += 1
        ready = [each for each, count in enumerate(waiting) if not count]
        for each in ready:  # it grows as it is read
            for below in self.inputs[each]:
                if below >= 0:
                    waiting[below] -= 1
                    if not waiting[below]:
                        ready.append(below)
        return ready

    def uses(self) -> dict[int, int]:
        """How many operations take each leaf."""
        counts = dict.fromkeys(self.leaves, 0)
        for taken in self.inputs:
            for each in taken:
                if each in counts:
                    counts[each] += 1
        return counts

    def takers(self) -> list[list[int]]:
        """The nodes that take from each."""
        above: list[list[int]] = [[] for _ in self.names]
        for node, taken in enumerate(self.inputs):
            for each in taken:
                if each >= 0:
                    above[each].append(node)
        return above


def walk(losses: Mapping[str, Tensor], bound: int = NODES) -> Walk:
    """From the losses to the leaves, in a loop: a chain of a hundred thousand steps is deeper than any stack."""
    found = Walk()
    number: dict[Any, int] = {}
    nodes: list[Any] = []
    depth: list[int] = []

    def meet(node: Any, deep: int) -> int:
        place = number.get(node)
        if place is None:
            if len(nodes) >= bound or deep > _DEEP:
                found.bounded = True
                return -1
            place = number[node] = len(nodes)
            nodes.append(node)
            depth.append(deep)
        return place

    for name, loss in losses.items():
        start = loss.grad_fn
        if start is None and loss.requires_grad:
            start = _accumulator(loss)
        found.roots[name] = -1 if start is None else meet(start, 0)
    kept: dict[int, tuple[int, int]] = {}  # storage -> the node that was met first of those that keep it, and bytes
    for place, node in enumerate(nodes):  # it grows as it is read
        found.names.append(plain_name(node.name()))
        variable = getattr(node, "variable", None)
        if isinstance(variable, Tensor):
            found.leaves[place] = variable
            found.shapes.append(tuple(variable.shape))
            found.made.append(-1)
            found.inputs.append(())
            continue
        found.shapes.append(_shape(node))
        found.made.append(_when(node))
        found.inputs.append(
            tuple(-1 if each is None else meet(each, depth[place] + 1) for each, _ in node.next_functions)
        )
        if not found.freed:
            for storage, size in _kept(node, found):
                kept.setdefault(storage, (place, size))
    weights = {_storage(each)[0] for each in found.leaves.values()}
    found.saved = [0] * len(nodes)
    for storage, (place, size) in kept.items():
        if storage not in weights:  # those are there in any case
            found.saved[place] += size
    if found.freed:
        found.saved = [0] * len(nodes)
    return found


def joined(walks: list[Walk]) -> Walk:
    """Losses that were walked one after the other, as one: nodes that two of them have in common are one again."""
    whole = Walk()
    known: dict[Any, int] = {}
    for each in walks:
        places = []
        for i, name in enumerate(each.names):
            leaf = each.leaves.get(i)
            key: Any = id(leaf) if leaf is not None else (name, each.made[i]) if each.made[i] >= 0 else object()
            place = known.get(key)
            if place is None:
                place = known[key] = len(whole.names)
                whole.names.append(name)
                whole.inputs.append(())
                whole.shapes.append(each.shapes[i])
                whole.made.append(each.made[i])
                whole.saved.append(each.saved[i])
                if leaf is not None:
                    whole.leaves[place] = leaf
            places.append(place)
        for i, taken in enumerate(each.inputs):
            whole.inputs[places[i]] = tuple(places[below] if below >= 0 else -1 for below in taken)
        for name, root in each.roots.items():
            whole.roots[name] = places[root] if root >= 0 else -1
        whole.freed |= each.freed
        whole.bounded |= each.bounded
    return whole


def size_of(loss: Tensor, before: int, bound: int) -> tuple[int, int, int, bool]:
    """Nodes of a graph; of them those made before a moment; the newest moment; whether there are more than counted."""
    if loss.grad_fn is None:
        return 0, 0, -1, False
    nodes: list[Any] = [loss.grad_fn]
    seen, old, newest, deep, level = {loss.grad_fn}, 0, -1, 0, 1
    for place, node in enumerate(nodes):  # it grows as it is read
        if place == level:
            deep, level = deep + 1, len(nodes)
        when = _when(node)
        old += 0 <= when <= before
        newest = max(newest, when)
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                if len(nodes) >= bound or deep >= _DEEP:
                    return len(nodes), old, newest, True
                seen.add(below)
                nodes.append(below)
    return len(nodes), old, newest, False


def plain_name(name: str) -> str:
    """`log_softmax` for LogSoftmaxBackward0."""
    plain = _plain.get(name)
    if plain is None:
        short = re.sub(r"Backward\d*$", "", name.rpartition("::")[2]) or name
        plain = _plain[name] = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", short).lower()
    return plain


def _accumulator(leaf: Tensor) -> Any:
    with torch.enable_grad():
        return leaf.view_as(leaf).grad_fn.next_functions[0][0]  # type: ignore[union-attr]


def _when(node: Any) -> int:
    try:
        when = int(node._sequence_nr())
    except (AttributeError, RuntimeError):
        return -1
    return -1 if when == _LEAF else when


def _shape(node: Any) -> tuple[int, ...] | None:
    try:
        return tuple(int(each) for each in node._input_metadata[0].shape)
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
        return None  # an old version of torch, or a shape that is not known yet


def _kept(node: Any, found: Walk) -> list[tuple[int, int]]:
    kind = type(node)
    names = _saved_names.get(kind)
    if names is None:
        names = tuple(each for each in dir(node) if each.startswith("_raw_saved_"))
        _saved_names[kind] = names
    sizes = []
    for name in names:
        try:
            raw = getattr(node, name)
            for each in raw if isinstance(raw, (tuple, list)) else (raw,):
                if each is None or each.unpack_hook is not None:
                    continue
                kept = each.data
                if kept is None:
                    getattr(node, name.replace("_raw", ""))  # raises where it was freed, and not where there was none
                elif isinstance(kept, Tensor):
                    sizes.append(_storage(kept))
        except RuntimeError as error:
            if "freed" in str(error):
                found.freed = True
                return []
        except AttributeError:
            return []  # an old version of torch does not say whether reading would run something
    return sizes


def _storage(tensor: Tensor) -> tuple[int, int]:
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError):
        return 0, 0  # no storage: a fake, or a sparse tensor
