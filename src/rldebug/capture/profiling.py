"""Profiling: all that a profile watches, put together: the sampler, the light hooks, the machine, and memory."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from rldebug.capture.kept import KeptForBackward
from rldebug.capture.kept import install as install_kept
from rldebug.capture.kernels import Kernels
from rldebug.capture.load import Load
from rldebug.capture.paced import Paced, PacedLog
from rldebug.capture.stopwatch import Stopwatch
from rldebug.capture.switch import Switchboard
from rldebug.capture.syncs import Syncs
from rldebug.capture.ticking import Tick

_FIRST = 12  # update that is looked at closely: those before it are not like the rest
_LOOK_AT_MEMORY = 1.0  # seconds after the start, and from one look to the next
_SELDOM = 1.5  # times the time of one look is that of the next, in the long run


class Profiling:
    """`install` right after torch was imported, in the main thread. Where `rldebug run` watches too, it finds the
    environments, and tells `log`."""

    def __init__(self, folder: Path) -> None:
        self.stopwatch = Stopwatch(folder)
        self.load = Load()
        self._held: Any = None
        self._next_look = _LOOK_AT_MEMORY
        self._ends: list[Callable[[], Any]] = []

    def install(self, switch: Switchboard, *, environments: bool = True, tick: Tick | None = None) -> None:
        stopwatch = self.stopwatch
        stopwatch.looks.append(self.load.look)
        stopwatch.on_window.append(self._look)
        paced = Paced(stopwatch, switch, environments=environments, tick=tick)
        paced.on_backward = self.load.notice  # some switch on for it alone what slows everything down
        self._look_at_updates(paced, install_kept(switch))
        stopwatch.start()

    def _look_at_updates(self, paced: Paced, kept: KeptForBackward) -> None:
        """Some updates are looked at more closely, one after the other: where the host waits for the GPU, what is
        launched on it, and what is kept for backward."""
        syncs, kernels, facts = Syncs(), Kernels(), self.stopwatch.facts

        def wait() -> None:
            syncs.end()
            facts["syncs"] = syncs.found

        def launch() -> None:
            kernels.end()
            facts["kernels"] = kernels.found
            if kernels.broken:
                self.stopwatch.broken["capture/kernels"] = kernels.broken

        def keep() -> None:
            facts["kept"] = kept.end()

        self._ends = [wait, launch, keep]  # where the program ends in the middle
        for update in range(_FIRST, _FIRST + 4):
            paced.around(update, syncs.begin, wait)
        for update in range(_FIRST + 4, _FIRST + 9):
            paced.around(update, kernels.begin, launch)
        paced.around(_FIRST + 10, kept.begin, keep)

    def log(self, log: Any) -> PacedLog:
        """In front of the log of `rldebug run`."""
        return PacedLog(self.stopwatch, log)

    def finish(self) -> None:
        stopwatch = self.stopwatch
        for each in self._ends:
            stopwatch._safely("the end of a look", each)
        stopwatch._safely("the machine", self._facts)
        stopwatch.stop()

    def _facts(self) -> None:
        self.stopwatch.facts["host"] = self.load.facts()
        if self._held is not None:
            self._held.look(time.perf_counter() - self.stopwatch.began)
            self.stopwatch.facts["held"] = self._held.result()

    def _look(self, now: float, frame: FrameType | None) -> None:
        if now < self._next_look or frame is None:
            return
        self._next_look = max(now + _LOOK_AT_MEMORY, _SELDOM * now)
        if self._held is None:
            self._held = importlib.import_module("rldebug.capture.held").HeldLooker()
        self._held.look(now)
