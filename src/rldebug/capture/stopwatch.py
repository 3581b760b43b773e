"""Stopwatch: what the sampler sees, put together with what happens: steps of environments, backward, updates.

A sample waits until the next of these happens in its thread; then it is known between which two it lies, and it is
added to what was seen of the same stack between the same two. So a run of any length takes little room.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from _thread import _count as other_threads
from _thread import get_ident
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from rldebug.capture.env_calls import Steady
from rldebug.capture.sampler import Sampler
from rldebug.capture.stacks import Stacks
from rldebug.evidence.timing import FILE, as_plain
from rldebug.span import under_way

_WINDOWS = 120  # kept; then two become one
_WINDOW = 0.5  # seconds, at first
_WRITE_EVERY = 20.0  # seconds
_THREADS_EVERY = 4  # samples
_MOMENTS = 3000  # samples of an iteration, kept in their order
_AT_LEAST = 120  # of them: short iterations are kept several in a row
_HAPPENED = 6000
_WARM = 1.0  # seconds of training, from which on an iteration is kept in its order
_ENVS = 64  # told apart

Cell = tuple[int, str, str, int, bool, str]  # stack, before, after, env, grad, span


class Thread:
    """One thread of the program: its samples that wait, and all the others."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.last = "start"
        self.events = 0
        self.waiting: dict[tuple[int, bool, str], list[float]] = {}  # a thread may go on for long without an event
        self.cells: dict[Cell, list[float]] = {}

    def saw(self, stack: int, seconds: float, grad: bool, span: str) -> None:
        found = self.waiting.get((stack, grad, span))
        if found is None:
            self.waiting[stack, grad, span] = [seconds, 1]
        else:
            found[0] += seconds
            found[1] += 1


class Stopwatch:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stacks = Stacks()
        self.sampler = Sampler(self._seen)
        self.environments: list[dict[str, Any]] = []
        self.counts = {"env_steps": 0, "updates": 0, "phases": 0}
        self.facts: dict[str, Any] = {}  # networks, host, syncs, held …: what others have found out
        self.looks: list[Callable[[], dict[str, Any]]] = []  # at the machine, for every window
        self.on_window: list[Callable[[float, FrameType | None], None]] = []
        self.broken: dict[str, str] = {}
        self.began = self.first = 0.0
        self.main = Thread(0)
        self._main_ident = threading.main_thread().ident
        self._threads: dict[int, Thread] = {}
        self._samples = 0
        self._since_threads = 0.0
        self._windows: list[dict[str, Any]] = []
        self._window: dict[Cell, float] = {}
        self._window_seconds = _WINDOW
        self._window_began = self._next_window = self._next_write = 0.0
        self._before = dict(self.counts)
        self.steady = Steady()
        self._acted = False  # since the last update
        self._played = -1  # the environment that was stepped last
        self._iteration = "no"  # no, waits for an env step after an update, goes on, done
        self._moments: list[tuple[float, float, Cell]] = []
        self._happened: list[tuple[float, str]] = []
        self.elsewhere = False  # in a process that was forked from the one that is timed

    def start(self) -> None:
        now = time.perf_counter()
        self.began = self._window_began = now
        self._next_window, self._next_write = now + _WINDOW, now + _WRITE_EVERY
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)
        self.sampler.prepare()

    def _in_child(self) -> None:
        self.sampler._running = False  # its timer is not inherited
        self.elsewhere = True

    def stop(self) -> None:
        if self.elsewhere:
            return
        self.sampler.stop()
        for each in (self.main, *self._threads.values()):
            self._settle(each, "end", -1)
        self._end_window(time.perf_counter(), None)
        self._safely("writing", self.write)

    # ── what happens ────────────────────────────────────────────────────────────────────────────────────────────────

    def happened(self, kind: str, env: int = -1) -> None:
        """step, reset, backward or update. Called often."""
        ident = get_ident()
        thread = self.main if ident == self._main_ident else self._threads.get(ident) or self._thread(ident)
        if thread.waiting:
            self._settle(thread, kind, env)
        if kind != "reset" or self.first:  # before the first step it is part of the start
            thread.last = kind
        thread.events += 1
        if self.steady.ref is not None:
            self.steady.end()
        if self._iteration == "goes on":
            self._keep(kind)

    def stepped(self, env: int, lanes: int) -> None:
        self.happened("step", env)
        self.counts["env_steps"] += lanes
        if env != self._played or not self.first:
            self._takes_over(env)
        if not self._acted:
            self._acted = True
            if self._iteration == "waits":
                self._iteration = "goes on"
        if env >= 0:
            known = self.environments[env]
            known["steps"] += lanes
            known["calls"] += 1
            self.steady.end()
            self.steady.playing = None if self._iteration == "goes on" else known

    def count_steps(self) -> None:
        """Those of which only the calls were counted, see Steady."""
        self.steady.end()
        for each in self.environments:
            untold = each["calls"] * each["lanes"] - each["steps"]
            each["steps"] += untold
            self.counts["env_steps"] += untold

    def _takes_over(self, env: int) -> None:
        """Another environment than before is stepped: the clock is read now, and not at every step."""
        if not self.first:
            self._begin()
        self._ends_turn()
        self._played = env
        self._tally("turns")
        if env >= 0 and "first" not in self.environments[env]:
            begins = {"first": time.perf_counter() - self.began, "first_update": self.counts["updates"]}
            self.environments[env].update(begins)

    def _ends_turn(self) -> None:
        if self._played >= 0:
            self.environments[self._played]["last"] = time.perf_counter() - self.began

    def updated(self) -> None:
        self.happened("update")
        if not self.first:
            self._begin()
        self.counts["updates"] += 1
        if self._acted:
            self._acted = False
            self._ends_turn()
            self.counts["phases"] += 1
            self._tally("followed")
            if self._iteration == "no" and time.perf_counter() - self.first > _WARM:
                self._iteration = "waits"

    def _tally(self, what: str) -> None:
        """Of the environment that is played: how often it took its turn, and an update came right after it."""
        if self._played >= 0:
            known = self.environments[self._played]
            known[what] = known.get(what, 0) + 1

    def _begin(self) -> None:
        """Only now: imports are no part of the training, and are many stacks that are never seen again."""
        self.first = time.perf_counter()
        if self.began:
            self.sampler.start()

    def environment(self, **facts: Any) -> int:
        """The number of a new one; of the last that is like it, where there are too many; -1 where none is."""
        if len(self.environments) < _ENVS:
            updates = self.counts["updates"]
            self.environments.append({**facts, "first_update": updates, "steps": 0, "calls": 0, "episodes": 0})
            return len(self.environments) - 1
        alike = [place for place, each in enumerate(self.environments) if facts.items() <= each.items()]
        return alike[-1] if alike else -1

    def _thread(self, ident: int) -> Thread:
        return self._threads.setdefault(ident, Thread(len(self._threads) + 1))

    def _keep(self, kind: str) -> None:
        """An iteration in its order: from the first step of an environment to the first one after updates."""
        self._happened.append((time.perf_counter() - self.began, kind))
        over = len(self._moments) >= _MOMENTS or len(self._happened) >= _HAPPENED
        again = kind == "step" and not self._acted and len(self._moments) >= _AT_LEAST
        if over or again:
            self._iteration = "done"

    # ── what is seen ────────────────────────────────────────────────────────────────────────────────────────────────

    def _seen(self, frame: FrameType, seconds: float, now: float) -> None:
        try:
            self._see(frame, seconds, now)
        except RecursionError:
            raise  # the program's own depth: the sampler knows
        except Exception:
            self.broken["capture/stopwatch"] = traceback.format_exc()
            self.sampler._running = False

    def _see(self, frame: FrameType, seconds: float, now: float) -> None:
        main = self.main
        if self.steady.ref is not None:
            self.steady.end()
        place = self.stacks.place(frame)
        main.saw(place, seconds, torch.is_grad_enabled(), under_way(self._main_ident or 0))
        if self._iteration == "goes on":
            cell = (place, main.last, "", -1, False, "")
            self._moments.append((now - seconds - self.began, seconds, cell))
        self._samples += 1
        self._since_threads += seconds
        if self._samples % _THREADS_EVERY == 0:
            if other_threads():
                self._see_threads(self._since_threads)
            self._since_threads = 0.0
        if now >= self._next_window:
            self._end_window(now, frame)
            if now >= self._next_write:
                self._safely("writing", self.write)
                self._next_write = now + max(_WRITE_EVERY, 400 * (time.perf_counter() - now))

    def _see_threads(self, seconds: float) -> None:
        for ident, frame in sys._current_frames().items():
            if ident == self._main_ident:
                continue
            stack = self.stacks.place(frame)
            if self.stacks.known[stack].ours or not self.stacks.known[stack].spots:
                continue
            self._thread(ident).saw(stack, seconds, True, under_way(ident))

    def _settle(self, thread: Thread, after: str, env: int) -> None:
        waiting, thread.waiting = thread.waiting, {}
        for (stack, grad, span), (seconds, samples) in list(waiting.items()):
            cell = (stack, thread.last, after, env, grad, span)
            found = thread.cells.get(cell)
            if found is None:
                thread.cells[cell] = [seconds, samples]
            else:
                found[0] += seconds
                found[1] += samples
            if thread is self.main:
                self._window[cell] = self._window.get(cell, 0.0) + seconds

    # ── windows ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _end_window(self, now: float, frame: FrameType | None) -> None:
        self.count_steps()
        window: dict[str, Any] = {"began": self._window_began - self.began, "seconds": now - self._window_began}
        for name, count in self.counts.items():
            window[name] = count - self._before[name]
        for look in self.looks:
            window.update(self._safely("looking at the machine", look) or {})
        window["cells"], self._window = self._window, {}
        self._before = dict(self.counts)
        self._windows.append(window)
        if len(self._windows) >= _WINDOWS:
            self._windows = [_joined(*pair) for pair in zip(self._windows[::2], self._windows[1::2], strict=True)]
            self._window_seconds *= 2
        for each in self.on_window:
            self._safely("looking at the program", each, now - self.began, frame)
        self._window_began = now
        self._next_window = now + self._window_seconds

    def _safely(self, what: str, call: Callable[..., Any], *args: Any) -> Any:
        try:
            return call(*args)
        except Exception:
            self.broken[f"capture/{what}"] = traceback.format_exc()
            return None

    # ── on disk ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def write(self) -> None:
        self.count_steps()
        if self._acted:
            self._ends_turn()
        used: dict[Cell, int] = {}
        threads = {}
        for each in (self.main, *self._threads.values()):
            cells = [[*key, *value] for key, value in list(each.cells.items())]
            threads[each.number] = {"events": each.events, "cells": cells}
        for place, cell in enumerate(self.main.cells):
            used[cell] = place
        spots: dict[Any, int] = {}
        stacks = [
            {
                "spots": [spots.setdefault(spot, len(spots)) for spot in each.spots],
                "inside": each.inside,
                "ours": each.ours,
                "rows": each.rows,
            }
            for each in self.stacks.known
        ]
        windows = [
            {**each, "cells": [[used[cell], seconds] for cell, seconds in each["cells"].items() if cell in used]}
            for each in self._windows
        ]
        told = {
            "format": 1,
            "began": 0.0,
            "first": (self.first or time.perf_counter()) - self.began,
            "end": time.perf_counter() - self.began,
            "own": self.sampler.spent,
            "way": self.sampler.way,
            "interval": self.sampler.pause,
            **self.counts,
            "spots": [list(vars(each).values()) for each in spots],
            "stacks": stacks,
            "threads": threads,
            "windows": windows,
            "environments": self.environments,
            "moments": [[when, seconds, cell[0], cell[1]] for when, seconds, cell in self._moments],
            "happened": self._happened,
            "broken": self.broken,
            **{key: as_plain(value) for key, value in self.facts.items()},
        }
        file = self.folder / FILE
        draft = file.with_suffix(".part")
        draft.write_text(json.dumps(told), encoding="utf-8")
        draft.replace(file)


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two windows as one: what is counted is added, of what is read the later counts."""
    added = ("seconds", "env_steps", "updates", "phases", "cpu", "children_cpu", "faults")
    window = {**first, **second, "began": first["began"]}
    for name in added:
        if name in first or name in second:
            window[name] = first.get(name, 0) + second.get(name, 0)
    window["cells"] = dict(first["cells"])
    for cell, seconds in second["cells"].items():
        window["cells"][cell] = window["cells"].get(cell, 0.0) + seconds
    return window
