"""What of the user's own keeps growing: lists, dicts and arrays, found by their names a few times in a run.

The walk goes from the globals of the user's modules and the variables of the functions that are under way to what these
hold, a few steps deep. Nothing of the user's is called: no property, no __len__, no __eq__, no __sizeof__. And nothing
is kept: a list is known again by its address, and by the addresses of some things in it.
"""

from __future__ import annotations

import dis
import inspect
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from types import CodeType, FrameType, ModuleType
from typing import Any

import torch

from rldebug.capture.held_size import Look, goes_on, look_at, parts_of
from rldebug.capture.place import is_users, shown
from rldebug.capture.registry import locals_of
from rldebug.capture.stand_in import out_of_reach
from rldebug.evidence.timing import Held

_OBJECTS = 2000  # that a look meets, at most
_SECONDS = 0.005  # that it takes, at most
_DEEP = 3  # steps from a variable: agent.memory.steps['obs']
_LOOKS = 3  # at least, to say that something grows
_GREW = 1.5  # times what it was
_WHILE = 0.9  # of the time: a look at the very end may follow another at once
_LARGEST = 10
_SERIES = 1000
_FRAMES = 64
_CALLS = ("PRECALL", "CALL", "CALL_FUNCTION")

Place = tuple[str, str]  # file, and name as the code there would write it


@dataclass
class _Series:
    place: Place
    last: Look
    at: list[float] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)

    def add(self, now: float, look: Look) -> None:
        if look.bounded:  # a ring that fills up does not grow
            self.at, self.items, self.bytes = [], [], []
        self.last = look
        self.at.append(now)
        self.items.append(look.items)
        self.bytes.append(look.bytes)

    @property
    def grew(self) -> bool:
        """Never less than in the look before, and still: one that is full has stopped."""
        items = self.items
        if len(items) < _LOOKS or items[-1] < _GREW * max(items[0], 1):
            return False
        if any(one > other for one, other in pairwise(items)):
            return False
        a_while_ago = [each for when, each in zip(self.at, items, strict=True) if when <= _WHILE * self.at[-1]]
        return bool(a_while_ago) and items[-1] > a_while_ago[-1]

    def held(self) -> Held:
        file, name = self.place
        return Held(name, file, 0, tuple(self.at), tuple(self.items), tuple(self.bytes), self.last.graphs)


class HeldLooker:
    """Call `look` in the program's own thread, ever further apart: at 1, 2, 3, 4.5 … seconds, and at the end."""

    def __init__(self) -> None:
        self._series: dict[Any, _Series] = {}
        self._libraries: set[str] = set()  # names of modules that are not the user's
        self._looked: list[float] = []

    def look(self, now: float) -> None:
        """`now`: seconds since the start."""
        if out_of_reach():
            return
        self._looked.append(now)
        with torch._C.DisableTorchFunction():  # a default device is a function mode
            for place, thing in self._walk():
                try:
                    look = look_at(thing)
                    if look is not None:
                        self._add(now, place, look, thing)
                except (RuntimeError, IndexError):
                    pass  # another thread has changed it meanwhile
        if len(self._series) > _SERIES:
            self._series = {key: each for key, each in self._series.items() if each.at[-1] == now}

    def result(self) -> tuple[Held, ...]:
        """What grew, and the largest; the largest first."""
        size = sorted(self._series.values(), key=lambda each: -each.bytes[-1])
        # At the very end the functions that held things have returned: what was there a look ago counts too.
        lately = {id(each) for each in [each for each in size if each.at[-1] in self._looked[-2:]][:_LARGEST]}
        return tuple(each.held() for each in size if id(each) in lately or each.grew)

    def _add(self, now: float, place: Place, look: Look, thing: Any) -> None:
        key = place if look.array else look.address
        known = self._series.get(key)
        # A list that is made anew for each episode often gets the address of the one before.
        if known is None or not goes_on(known.last, look, thing):
            known = self._series[key] = _Series(place, look)
        known.add(now, look)

    # ── the walk ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _walk(self) -> Iterator[tuple[Place, Any]]:
        """Nearest first: what a function calls `memory` rather than what is called `agent.memory` elsewhere. Functions
        that are under way, to the bottom, before modules: of these a program may have hundreds."""
        seen: set[int] = set()
        until = time.perf_counter() + _SECONDS
        for namespaces in (self._functions(), self._modules()):
            level = [
                (file, name, each)
                for file, variables in namespaces
                for name, each in variables.items()
                if type(name) is str and not (name.startswith("__") and name.endswith("__"))
            ]
            for deep in range(_DEEP + 1):
                below: list[tuple[str, str, Any]] = []
                for file, name, each in level:
                    if id(each) in seen:
                        continue
                    if len(seen) >= _OBJECTS or time.perf_counter() > until:
                        return
                    seen.add(id(each))
                    yield (file, name), each
                    if deep < _DEEP:
                        below += [(file, f"{name}{step}", part) for step, part in parts_of(each)]
                level = below

    def _functions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        frames: list[FrameType] = []
        frame: FrameType | None = sys._getframe()
        while frame is not None and len(frames) < _FRAMES:
            if is_users(frame.f_code.co_filename) and not _asks_for_its_variables(frame.f_code):
                frames.append(frame)
            frame = frame.f_back
        for each in reversed(frames):  # the outermost are the same in every look
            yield shown(each.f_code.co_filename), locals_of(each)

    def _modules(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, module in list(sys.modules.items()):
            if name in self._libraries and name != "__main__":
                continue
            file = vars(module).get("__file__") if type(module) is ModuleType else None
            if type(file) is str and is_users(file):
                yield shown(file), dict(vars(module))
            else:
                self._libraries.add(name)


@lru_cache(maxsize=256)
def _asks_for_its_variables(code: CodeType) -> bool:
    """Up to Python 3.12 `locals()` gives the program the very snapshot that we would fill, and empty again."""
    asking = {"locals", "exec", "eval", "vars"}
    if sys.version_info >= (3, 13) or asking.isdisjoint(code.co_names) or not code.co_flags & inspect.CO_OPTIMIZED:
        return False
    words = [each for each in dis.get_instructions(code) if each.opname != "CACHE"]
    return any(
        each.opname == "LOAD_GLOBAL"  # net.eval() is no global
        and each.argval in asking
        and (each.argval != "vars" or (after.opname in _CALLS and not after.arg))  # vars(args) is given something
        for each, after in pairwise(words)
    )
