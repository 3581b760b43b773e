"""Scene: the frames of a crash of autograd, what they name, and the text around them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import FrameType
from typing import Any

from rldebug.evidence.crashes import creation_sites
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.made import Made, made
from rldebug.evidence.crashes.named import Named, owners, tensors
from rldebug.evidence.crashes.source import Place, called, line_told, node_at
from rldebug.syntax.names import argument, dotted
from rldebug.syntax.places import above, branches_apart, calls_in


@dataclass(frozen=True, eq=False)
class Scene:
    message: str
    frames: list[FrameType]  # all, from the outermost in
    own: list[FrameType]  # the user's
    stack: list[Place]  # of those, the innermost first
    places: dict[int, Place]  # id of a frame of the user's -> its text
    named: list[Named]
    roots: list[Any]  # what the gradient was asked of

    @cached_property
    def owners(self) -> dict[int, tuple[str, str]]:
        return owners(self.named)

    @cached_property
    def aliases(self) -> dict[int, list[Named]]:
        """id of a tensor -> its names, the innermost frame's first."""
        told: dict[int, list[Named]] = {}
        for each in tensors(self.named):
            told.setdefault(id(each.value), []).append(each)
        return told

    @cached_property
    def asked(self) -> tuple[Place, ast.Call, ast.expr] | None:
        """The call of backward() or grad() that failed, and what it was asked of."""
        for place in self.stack[:1]:
            for node in calls_in(place.scope):
                here = node.lineno <= (place.line or 0) <= (node.end_lineno or node.lineno)
                if here and (loss := asked_of(node)) is not None:
                    return place, node, loss
        return None

    @property
    def loss(self) -> Fact:
        told: Fact = {"name": ast.unparse(self.asked[2])[:80] if self.asked else ""}
        if self.roots:
            told["shape"] = [int(each) for each in self.roots[0].shape]
        return told

    def made(self, aliases: Iterable[Named]) -> tuple[Named, Made] | None:
        """Where a tensor of these names was made, by the first of them that was not only handed over."""
        for alias in aliases:
            place = self.places.get(id(alias.frame))
            # The thousand items of a list were made by one line.
            key = (id(alias.frame), alias.kept.split("[")[0], bool(alias.holder), id(alias.owner), alias.attribute)
            if place is not None and key not in self._known:
                self._known[key] = made(alias, place, self.stack)
            if (told := self._known.get(key)) is not None:
                return alias, told
        return None

    @cached_property
    def _known(self) -> dict[tuple[object, ...], Made | None]:
        return {}

    def networks(self, leaves: Iterable[Any]) -> list[str]:
        """The networks that parameters belong to, as the program calls them."""
        return list(dict.fromkeys(self.owners[id(each)][0] for each in leaves if id(each) in self.owners))


def asked_of(call: ast.Call) -> ast.expr | None:
    """The loss of `loss.backward()`, `torch.autograd.grad(loss, …)`, `scaler.scale(loss).backward()`."""
    if not isinstance(call.func, ast.Attribute):
        return None
    name = dotted(call.func)
    if name.endswith(("autograd.backward", "autograd.grad")):
        return argument(call, 0, "tensors", "outputs")
    if call.func.attr == "backward":
        # accelerator.backward(loss), fabric.backward(loss); gradient= is given by position too.
        given = call.args[:1] if isinstance(call.func.value, ast.Name) and call.func.value.id != "loss" else []
        return given[0] if given and isinstance(given[0], ast.Name) else call.func.value
    return None


def line_of(told: Made, node: Any = None) -> Fact:
    """The line that made something; exact where the lines were kept."""
    site = creation_sites.site_of(node) if node is not None else None
    if site is not None:
        file, line, text = site
        return {"file": file, "line": line, "text": text, "exact": True}
    return line_told(told.place, told.node)


@dataclass(frozen=True, eq=False)
class Step:
    """A call that came before the failing line: in a function that was at work, or in one that this had called."""

    place: Place
    call: ast.Call
    depth: int  # of the frame that was at work
    line: int  # in that


def steps_before(scene: Scene, wanted: Callable[[Place, ast.Call], bool]) -> Iterator[Step]:
    """Those that `wanted` chooses, the last one before the failing line first."""
    for depth, place in enumerate(scene.stack):
        here = node_at(place, place.line or 0)
        if here is None:
            continue
        found = [
            each
            for each in calls_in(place.scope)
            if (each.lineno, each.col_offset) < (place.line or 0, 0) and not branches_apart(place.source, each, here)
        ]
        for call in sorted(found, key=lambda each: -each.lineno):
            if wanted(place, call):
                yield Step(place, call, depth, call.lineno)
            elif (callee := called(place, call)) is not None:
                inner = [each for each in calls_in(callee.scope) if wanted(callee, each)]
                yield from (Step(callee, each, depth, call.lineno) for each in inner[-1:])


def in_same_pass(place: Place, one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes of a function stand in the same loops."""

    def loops(node: ast.AST) -> list[ast.AST]:
        return [each for each in above(place.source, node) if isinstance(each, ast.For | ast.While)]

    return loops(one) == loops(other)
