"""Switchboard: everything that is put in place of something else, so that it can be put back; and the sandbox of hooks.
 Hooks come in groups, one per file of this shelf. The first exception of a hook switches its whole group off and is
listed with its traceback: the program that is watched never sees it. A group that is off costs an `if`.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

GROUPS: dict[str, str] = {
    "environments": "reset and step of environments",
    "networks": "calls of modules",
    "distributions": "log-probs, entropies and samples",
    "backward": "losses, and the graphs behind them",
    "graphs": "the sizes of those graphs, and the one that --graph draws",
    "optimizers": "optimizer steps, zeroed and clipped gradients, schedules",
    "copies": "weights loaded or copied into a module",
    "checkpoints": "what is saved and loaded",
    "seeds": "generators that are seeded",
    "threads": "threads and processes that are started",
    "collectives": "what ranks do together, by torch.distributed",
    "logging": "numbers that the program logs",
    "arguments": "options that are parsed, and read",
    "warnings": "warnings that are shown",
}


class Switchboard:
    def __init__(self, without: tuple[str, ...] = ()) -> None:
        self.off: set[str] = set(without)
        self.broken: dict[str, str] = {}
        self._put_back: list[tuple[Any, str, Any, Any, bool]] = []
        self._undo: list[Callable[[], Any]] = []
        self._pid = os.getpid()

    def on(self, group: str) -> bool:
        # In a process forked from the watched one nothing is recorded: its lines would end up among ours.
        return group not in self.off and os.getpid() == self._pid

    def replace(self, group: str, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Put `make(original)` in place of `owner.name`. Where the owner only inherits it, it gets one of its own."""
        if group in self.off:
            return
        own = name in vars(owner) if hasattr(owner, "__dict__") else True
        # As it lies in the class: a staticmethod must stay one.
        original = vars(owner)[name] if own and hasattr(owner, "__dict__") else getattr(owner, name)
        stand_in = make(original)
        setattr(owner, name, stand_in)
        self._put_back.append((owner, name, original, stand_in, own))

    def when_undone(self, undo: Callable[[], Any]) -> None:
        """For hooks that are registered rather than put in place: called by `undo`."""
        self._undo.append(undo)

    def guard(self, group: str, look: Callable[..., Any], *args: Any) -> Any:
        """Call a hook; what goes wrong in it is listed, and its group is off from then on."""
        if not self.on(group):
            return None
        try:
            return look(*args)
        except Exception:
            self.failed(group)
            return None

    @contextmanager
    def asleep(self) -> Iterator[None]:
        """Nothing is heard within: for what rldebug itself does with the program's things."""
        awake = set(GROUPS) - self.off
        self.off.update(awake)
        try:
            yield
        finally:
            self.off -= awake  # the very set: others hold it

    def failed(self, group: str) -> None:
        """Called where an exception was caught."""
        self.off.add(group)
        self.broken[f"capture/{group}"] = traceback.format_exc()

    def undo(self) -> None:
        for undo in reversed(self._undo):
            try:
                undo()
            except Exception:
                self.broken["capture/undo"] = traceback.format_exc()
        self._undo.clear()
        for owner, name, original, stand_in, own in reversed(self._put_back):
            if vars(owner).get(name) is not stand_in:
                continue  # somebody has put something on top of ours: it stays, and ours is switched off
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)
        self._put_back.clear()
        self.off.update(GROUPS)
