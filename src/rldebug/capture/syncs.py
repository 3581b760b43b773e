"""Syncs: the lines at which the host waits for the GPU.

Torch itself can warn where a CUDA operation makes the host wait. For the length of an update it is asked to, and its
warnings are taken before anybody sees them. The program's filters, its record of what was shown once, and what shows
warnings stay as they are. Nothing is looked at where CUDA is not in use.
"""

from __future__ import annotations

import ast
import dis
import linecache
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

import torch

from rldebug.capture.place import shown
from rldebug.capture.stacks import Stacks
from rldebug.capture.stand_in import out_of_reach
from rldebug.evidence.timing import Spot, Sync

_TEXT = re.compile("called a synchronizing|Synchronization debug mode", re.IGNORECASE)
_OURS = ("always", _TEXT, Warning, None, 0)  # as it stands among the filters; "always" leaves no trace in a registry
# What is called whenever filters change: by simplefilter and the like, and as catch_warnings begins and ends.
_CHANGED = tuple(name for name in ("_filters_mutated", "_filters_mutated_lock_held") if hasattr(warnings, name))


@dataclass(frozen=True)
class _Line:
    spot: Spot  # the user's own
    file: str
    instruction: str  # that it was at
    modules: Mapping[str, str]  # that have a name there


class Syncs:
    """`begin` and `end` around some of the updates, in the thread that trains."""

    def __init__(self) -> None:
        self.updates = 0  # that were looked at
        self._stacks = Stacks()
        self._times: dict[int, int] = {}  # by the place of the stack
        self._lines: dict[int, _Line] = {}
        self._thread = 0
        self._taken: _Taken | None = None

    def begin(self) -> None:
        if self._taken is not None or not _CHANGED or not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            return
        if torch.cuda.get_sync_debug_mode() != 0 or out_of_reach():
            return  # the program looks for them itself
        self._thread = threading.get_ident()
        self._taken = _Taken(self._saw)
        torch.cuda.set_sync_debug_mode("warn")

    def end(self) -> None:
        if self._taken is None:
            return
        if torch.cuda.get_sync_debug_mode() == 1:  # else the program has set it meanwhile
            torch.cuda.set_sync_debug_mode("default")
        self._taken.give_back()
        self._taken = None
        self.updates += 1

    @property
    def found(self) -> tuple[Sync, ...]:
        """The most frequent first. The files are read only now."""
        lines: dict[tuple[Spot, str], int] = {}
        for place, times in self._times.items():
            if place in self._lines:
                line = self._lines[place]
                key = (line.spot, _called(line))
                lines[key] = lines.get(key, 0) + times
        ordered = sorted(lines.items(), key=lambda each: -each[1])
        return tuple(Sync(spot, times, times / max(self.updates, 1), what) for (spot, what), times in ordered)

    def _saw(self, frame: FrameType | None) -> None:
        thread = threading.get_ident()
        if frame is None or (thread != self._thread and any(each.ident == thread for each in threading.enumerate())):
            return  # another one of the program's; those that work for backward are not Python's
        place = self._stacks.place(frame)
        if place not in self._times:
            stack = self._stacks.known[place]
            spot = next((each for each in reversed(stack.spots) if each.kind == "user"), None)
            if spot is not None and not stack.ours:
                self._lines[place] = _line(frame, spot)
        self._times[place] = self._times.get(place, 0) + 1


class _Taken:
    """The warnings of torch about waits, taken from the machinery of Python's until they are given back."""

    def __init__(self, saw: Callable[[FrameType | None], None]) -> None:
        self._saw = saw
        self._lists: list[list[Any]] = []
        self._before: list[tuple[str, Any, Any]] = []
        self._put("_showwarnmsg", self._showing)
        for name in _CHANGED:
            self._put(name, self._changing)
        self._place_filter()

    def give_back(self) -> None:
        for name, before, ours in reversed(self._before):
            if getattr(warnings, name) is ours:
                setattr(warnings, name, before)
        for each in self._lists:
            while _OURS in each:
                each.remove(_OURS)

    def _put(self, name: str, make: Callable[[Any], Any]) -> None:
        before = getattr(warnings, name)
        ours = make(before)
        setattr(warnings, name, ours)
        self._before.append((name, before, ours))

    def _showing(self, before: Callable[..., Any]) -> Callable[..., Any]:
        def _showwarnmsg(message: Any) -> Any:
            if not _TEXT.match(str(message.message)):
                return before(message)
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_globals.get("__name__") in ("warnings", "_py_warnings"):
                frame = frame.f_back
            try:
                self._saw(frame)
            except Exception:
                pass  # a line less is known; the program must not see it
            return None

        return _showwarnmsg

    def _changing(self, before: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*args: Any) -> Any:
            self._place_filter()
            return before(*args)

        return changed

    def _place_filter(self) -> None:
        """In front, whatever the program adds: a filter that makes errors of warnings would raise ours. Put there by
        hand: to tell Python that filters have changed would make it forget what it has shown."""
        filters: Any = warnings.filters
        if not filters or filters[0] is not _OURS:
            while _OURS in filters:
                filters.remove(_OURS)
            filters.insert(0, _OURS)
        if not any(each is filters for each in self._lists):
            self._lists.append(filters)


def _line(frame: FrameType | None, spot: Spot) -> _Line:
    while frame is not None:
        file = frame.f_code.co_filename
        if spot.file in (file, shown(file)) and spot.line <= (frame.f_lineno or 0) <= max(spot.end_line, spot.line):
            modules = {name: each.__name__ for name, each in frame.f_globals.items() if isinstance(each, ModuleType)}
            instruction = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            return _Line(spot, os.path.abspath(file), instruction, modules)
        frame = frame.f_back
    return _Line(spot, spot.file, "", {})


def _called(line: _Line) -> str:
    """.item, torch.nonzero, bool: what the user's line did that had to wait."""
    spot = line.spot
    if "JUMP" in line.instruction or line.instruction in ("UNARY_NOT", "TO_BOOL"):
        return "bool"
    if "SUBSCR" in line.instruction:
        return "[…]"
    rows = [linecache.getline(line.file, row).encode() for row in range(spot.line, max(spot.end_line, spot.line) + 1)]
    if spot.end_column:
        rows[-1] = rows[-1][: spot.end_column]
        rows[0] = rows[0][spot.column :]
    try:
        tree = ast.parse(b"(" + b"".join(rows).strip() + b"\n)" if spot.end_column else b"".join(rows).strip())
    except (SyntaxError, ValueError):
        return ""
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    if not calls or (not spot.end_column and len(calls) > 1):
        return ""  # nobody knows which
    function = calls[0].func
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(function, ast.Attribute):
        return ast.unparse(function)
    if isinstance(root, ast.Name) and root.id in line.modules:
        return line.modules[root.id] + ast.unparse(function).removeprefix(root.id)
    return f".{function.attr}"
