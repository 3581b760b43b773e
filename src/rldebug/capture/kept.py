"""What is kept for backward in one update, by the line of the program that has it kept.

Read off the graph, just before it is run backward. Saved-tensor hooks would see the same as it is saved, and cannot be
used: under them torch no longer notices that a saved tensor was changed in place, and gives wrong gradients where the
program would have stopped with an error; and torch.func.grad refuses to run. So the nodes are made to remember their
lines (`backward.Lines`), for one update, and are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from rldebug.capture.backward import Lines, _tensors
from rldebug.capture.modules import compiling
from rldebug.capture.place import is_users, shown
from rldebug.capture.stand_in import out_of_reach, stand_in, tell_torchscript
from rldebug.capture.switch import Switchboard
from rldebug.evidence.graphs.walk import Walk, _kept, _storage, _when
from rldebug.evidence.timing import Kept, Spot

GROUP = "backward"
_NODES = 20_000  # of one loss
_DEEP = 5_000  # nodes from the loss down; see evidence/graphs/walk.py
_LINES = 30
_FRAME = re.compile(r'File "(.*?)", line (\d+), in (\S+)')


def install(switch: Switchboard) -> KeptForBackward:
    """In place for the whole run; it does something between `begin` and `end`."""
    here = KeptForBackward(switch)
    for name in ("backward", "grad"):
        switch.replace(GROUP, torch.autograd, name, here._around)
        tell_torchscript(getattr(torch.autograd, name), f"aten::{name}", switch)
    # Whoever changes anomaly mode must find it as they left it.
    modes = torch.autograd.anomaly_mode
    for owner, name in (
        (modes.detect_anomaly, "__init__"),
        (modes.set_detect_anomaly, "__init__"),
        (torch, "set_anomaly_enabled"),
    ):
        switch.replace(GROUP, owner, name, here._giving_way)
    switch.when_undone(here.lines.stop)
    return here


class KeptForBackward:
    """`begin` after an update, `end` after the next: what the losses in between keep."""

    def __init__(self, switch: Switchboard) -> None:
        self.on = False
        self.lines = Lines()
        self.lines._set = torch._C.set_anomaly_enabled  # what lies in torch itself gives way to others
        self._switch = switch
        self._bytes: dict[Spot, int] = {}
        self._tensors: dict[Spot, int] = {}
        self._counted: set[tuple[int, str]] = set()  # nodes: several losses may share some

    def begin(self) -> bool:
        """False where it is left: torch.compile would notice."""
        if self.on or compiling() or out_of_reach() or not self._switch.on(GROUP):
            return False
        self._bytes, self._tensors, self._counted = {}, {}, set()
        self.on = True
        self.lines.start()
        return True

    def end(self) -> tuple[Kept, ...]:
        """The largest first."""
        self.on = False
        self.lines.stop()
        most = sorted(self._bytes, key=lambda each: -self._bytes[each])[:_LINES]
        return tuple(Kept(each, self._bytes[each], self._tensors[each]) for each in most)

    # ── in the program's own calls ──────────────────────────────────────────────────────────────────────────────────

    def _around(self, original: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            # Inside of a backward pass (checkpointing, a Function of the user's) it is no loss that is run.
            if not self.on or torch.compiler.is_compiling() or torch._C._current_graph_task_id() != -1:
                return original(*args, **kwargs)
            self._switch.guard(GROUP, self._saw, args, kwargs)
            if not self.lines.on:
                return original(*args, **kwargs)
            # An error in here would have autograd print the line of the forward pass, as it does not without us.
            self.lines.pause()
            try:
                return original(*args, **kwargs)
            finally:
                self.lines.resume()

        return stand_in(original, run)

    def _giving_way(self, original: Any) -> Any:
        def change(*args: Any, **kwargs: Any) -> Any:
            self.lines.stop()
            return original(*args, **kwargs)

        return stand_in(original, change)

    def _saw(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        given = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
        roots = [each for each in _tensors(given) if each.grad_fn is not None]
        if roots and not out_of_reach():
            self._add(roots)

    def _add(self, roots: Iterable[Tensor]) -> None:
        nodes, passed = _nodes(roots)
        # A storage belongs to the operation that was the first to save it, as memory is first taken there.
        nodes.sort(key=lambda each: each[0])
        unread = Walk()
        for when, name, node in nodes:
            again = (when, name) in self._counted
            self._counted.add((when, name))
            fresh = [each for each in _kept(node, unread) if all(each) and each[0] not in passed]
            passed.update(storage for storage, _ in fresh)
            if again or not fresh:
                continue
            spot = _spot(node)
            if spot is not None:
                self._bytes[spot] = self._bytes.get(spot, 0) + sum(dict(fresh).values())
                self._tensors[spot] = self._tensors.get(spot, 0) + len(dict(fresh))


def _nodes(roots: Iterable[Tensor]) -> tuple[list[tuple[int, str, Any]], set[int]]:
    """Those behind some losses, with when they were made; and the storages of the parameters that they lead to."""
    ahead: list[tuple[Any, int]] = [(each.grad_fn, 0) for each in roots]
    seen: set[Any] = {node for node, _ in ahead}
    found: list[tuple[int, str, Any]] = []
    parameters: set[int] = set()
    for node, deep in ahead:  # it grows as it is read
        variable = getattr(node, "variable", None)
        if isinstance(variable, Tensor):
            parameters.add(_storage(variable)[0])
            continue
        found.append((_when(node), node.name(), node))
        for below, _ in node.next_functions:
            if below is not None and below not in seen and deep < _DEEP and len(ahead) < _NODES:
                seen.add(below)
                ahead.append((below, deep + 1))
    return found, parameters


def _spot(node: Any) -> Spot | None:
    """The innermost line of the user's own that led to a node; None where the node was made before we looked."""
    for frame in reversed(node.metadata.get("traceback_") or ()):
        found = _FRAME.search(frame)
        if found is not None and is_users(found[1]):
            return Spot(shown(found[1]), found[3], int(found[2]), "user")
    return None
