"""Distributions whose entropy stands in a loss, and of which no log-prob of an action does."""

from __future__ import annotations

from typing import Any

from rldebug.capture.loss_marks import Marks
from rldebug.capture.loss_nodes import LAYERS, Node, base_name, saved, shape_of

_PARTS = {"Slice": ("dim", "start", "end"), "Select": ("dim", "index")}
_SPLITS = ("Split", "SplitWithSizes", "Unbind")
_DEEP = 64

Head = tuple[int, tuple[Any, ...], int]  # the parameter of its last layer, which part of the output it is, its choices


def unpicked(marks: Marks) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many choices each distribution has whose entropy is there, and those of them that nothing else is made of.

    The same scores may be computed twice, or masked in one place only: what tells two distributions apart is the layer
    that they come from, and which part of its output they are.
    """
    rewarded: set[Head] = set()
    used: set[Head] = set()
    for node, mark in marks.all():
        for each, output in node.next_functions:
            inner = marks.of(each)
            if each is None or inner is None or inner.tag not in ("table", "probs"):
                continue
            if mark.tag in ("table", "probs"):
                continue  # clamped, masked, reshaped: what is made of it comes further up
            head = _head(each, output, marks)
            if head is None:
                return (), ()
            (rewarded if mark.tag == "plogp" else used).add(head)
    return tuple(sorted(each[2] for each in rewarded)), tuple(sorted(each[2] for each in rewarded - used))


def _head(node: Node | None, output: int, marks: Marks) -> Head | None:
    shape = shape_of(node, output) if node is not None else ()
    key = marks.head_of(node)
    if not shape or not key:
        return None
    parts: list[Any] = []
    for _ in range(_DEEP):
        if node is None or base_name(node) in LAYERS or base_name(node) == "AccumulateGrad":
            break
        name = base_name(node)
        if name in _PARTS:
            parts.append((name, *(saved(node, each) for each in _PARTS[name])))
        elif name in _SPLITS:
            parts.append((name, output))
        under = [each for each in node.next_functions if each[0] is not None]
        node, output = next((each for each in under if base_name(each[0]) != "AccumulateGrad"), (None, 0))
    return key, tuple(parts), shape[-1]
