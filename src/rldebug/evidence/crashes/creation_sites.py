"""Creation sites: which line of the user's made which node of a graph. Costs time; see bench/overhead.py.

Nodes are numbered in the order in which they are made. At each line of the user's code the number that comes next is
looked at; a node is the work of the line during which its number was given. Nothing is attached to the graph, and
nothing of torch is replaced.
"""

from __future__ import annotations

import linecache
import sys
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from rldebug.evidence.crashes.origin import is_ours, is_own

_MOST = 400_000  # lines that are remembered
_DEEP = 64
_BEYOND = 1 << 60  # parameters have no number: they are not made by an operation

Site = tuple[CodeType, int]


class CreationSites:
    """Only the main thread is looked at: each thread numbers its nodes by itself."""

    def __init__(self) -> None:
        from torch import Tensor
        from torch._C import _autograd

        self._number = _autograd._get_sequence_nr
        self._backward = Tensor.backward.__code__
        self._ends: list[int] = []  # the number that came next when a line was left
        self._sites: list[Site | None] = []
        self._site: Site | None = None
        self._first = self._last = 0
        self._users: dict[str, bool] = {}  # by file: the hash of a code object is not kept by it
        self.backwards: deque[int] = deque(maxlen=4096)  # the number that came next when backward() was called
        self.installed = False

    def install(self) -> bool:
        """False where a debugger or a measurement of coverage has the only hook that there is."""
        global _current
        if sys.gettrace() is not None or threading.current_thread() is not threading.main_thread():
            return False
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:  # functions that are already being called
            if self._is_users(frame.f_code):
                frame.f_trace = self._line
            frame = frame.f_back
        self._first = self._last = self._number()
        self._site = _caller(sys._getframe(1), self._is_users)
        sys.settrace(self._call)
        self.installed, _current = True, self
        return True

    def uninstall(self) -> None:
        """What was remembered stays, for the look at a crash."""
        if self.installed and sys.gettrace() == self._call:
            self._note()
            sys.settrace(None)
        self.installed = False

    def forget(self) -> None:
        global _current
        self.uninstall()
        if _current is self:
            _current = None

    def _is_users(self, code: CodeType) -> bool:
        known = self._users.get(code.co_filename)
        if known is None:
            known = self._users[code.co_filename] = _is_users(code.co_filename)
        return known

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code is self._backward:
            self.backwards.append(self._number())
            return None
        known = self._users.get(code.co_filename)
        return self._line if known or (known is None and self._is_users(code)) else None

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        number = self._number()
        if number != self._last:
            self._note(number)
        if event == "line":
            self._site = (frame.f_code, frame.f_lineno)
        elif event == "return":  # the rest of the line that called is its own work again
            self._site = _caller(frame.f_back, self._is_users)
        return self._line

    def _note(self, number: int | None = None) -> None:
        number = self._number() if number is None else number
        if number == self._last:
            return
        if len(self._ends) >= _MOST:
            self._first = self._ends[_MOST // 2 - 1]
            del self._ends[: _MOST // 2], self._sites[: _MOST // 2]
        self._ends.append(number)
        self._sites.append(self._site)
        self._last = number

    def site(self, number: int) -> Site | None:
        place = bisect_right(self._ends, number)
        return self._sites[place] if number >= self._first and place < len(self._sites) else None


def _caller(frame: FrameType | None, is_users_code: Callable[[CodeType], bool]) -> Site | None:
    for _ in range(_DEEP):
        if frame is None:
            return None
        if is_users_code(frame.f_code):
            return frame.f_code, frame.f_lineno
        frame = frame.f_back
    return None


_current: CreationSites | None = None


def site_of(node: Any) -> tuple[str, int, str] | None:
    """File, line and text of what made a node; None where that was not kept."""
    number = _number_of(node)
    if _current is None or number is None:
        return None
    if _current.installed:
        _current._note()
    if (site := _current.site(number)) is None:
        return None
    code, line = site
    return code.co_filename, line, linecache.getline(code.co_filename, line).strip()[:160]


def made_before_last_backward(node: Any) -> bool | None:
    """Whether a backward() was called between the making of a node and the last call; None where that was not kept."""
    number = _number_of(node)
    if _current is None or number is None or len(_current.backwards) < 2:
        return None
    return number < _current.backwards[-2]


def _number_of(node: Any) -> int | None:
    if _current is None or node is None:
        return None
    number: int = node._sequence_nr()
    return number if number < _BEYOND else None


def _is_users(file: str) -> bool:
    if file.startswith("<"):
        return file.startswith("<ipython")
    return bool(file) and is_own(file, "") and not is_ours(file)
