"""Ticks: told that the program goes on, whenever an environment or an optimizer has stepped.

In place only where somebody wants to know: it costs a look at the clock each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torch.optim.optimizer import register_optimizer_step_post_hook

from rldebug.capture.switch import Switchboard

Tick = Callable[[], float]
"""Gives the time.monotonic() at which it wants to be called again."""


_ALL: list[Ticking] = []


def _stepped(*_: Any) -> None:
    """A function of a module, as in paced.py: what torch keeps of it may be pickled."""
    for each in _ALL:
        each.look()


class Ticking:
    """`log` is what environments tell; this goes before it."""

    def __init__(self, log: Any, tick: Tick, switch: Switchboard) -> None:
        self.log = log
        self._tick, self._due = tick, 0.0
        if hasattr(log, "quick_step"):
            self.quick_step = self._quick_step
        if hasattr(log, "light"):
            self.light = self._light
        _ALL.append(self)
        switch.when_undone(register_optimizer_step_post_hook(_stepped).remove)
        switch.when_undone(lambda: _ALL.remove(self))

    def look(self) -> None:
        if time.monotonic() >= self._due:
            self._due = self._tick()

    def step(self, *args: Any) -> None:
        self.log.step(*args)
        self.look()

    def _quick_step(self, *args: Any) -> None:
        self.log.quick_step(*args)
        self.look()

    def _light(self, *args: Any) -> bool:
        read: bool = self.log.light(*args)
        self.look()
        return read

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["log"], name)
