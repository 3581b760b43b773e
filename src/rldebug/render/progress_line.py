"""One line that says how fast a program goes, beneath whatever the program itself prints. On a terminal only.

It is drawn where the cursor stands at the start of a line, and is gone before the program's next byte gets there: what
is written to the terminal through Python's own files passes by here, at the last moment, when nothing is buffered any
more. A program that has left a line unfinished, like a bar of tqdm, sees no line of ours until it ends it; one that
moves the cursor about sees none any more. Nothing runs by itself: the line is drawn in `tick`.

With a `view` there are several lines, where the window has room for them. The cursor goes back to the start of the
first, where the program's next byte belongs: whatever lies below it is ours, however the window was resized, and what
comes by other ways (a library in C, another process) may overwrite our lines, but is never taken away with them.
"""

from __future__ import annotations

import io
import math
import mmap
import os
import re
import select
import signal
import stat
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from rldebug.finding import thousands

_EVERY = 1.0  # seconds
_AGAIN = 0.05  # seconds after what the program printed, before a view comes back
_SPAN = 10  # times that it was due, over which speeds are taken
# This line, then all below it; in one go from the top left corner, tmux would keep them in its history.
_ERASE = b"\r\x1b[2K\x1b[C\x1b[J\r"
_MOVES = re.compile(rb"\x1b(?!\[[0-9;:]*m)")  # all but colours
_COLOURS_LAST = re.compile(rb"(\x1b\[[0-9;:]*m)+\Z")
_SHOWN, _FRESH, _LEFT_ALONE = range(3)  # places in `_state`
_now = time.monotonic

View = Callable[[str, int, int], Sequence[str]]
"""Lines to draw, given the pace in words, and the columns and rows of the window; none where one line is to do."""


class ProgressLine:
    """`begin` before the program runs, `tick` whenever it has done something, `end` when it is over. None raises."""

    def __init__(self, stream: TextIO) -> None:
        self.due = math.inf  # time.monotonic() before which a tick does nothing: who knows the time need not call
        self._stream = stream
        self._view: View | None = None
        self._write: Callable[[bytes], Any] = lambda data: None
        self._fd = -1
        self._pid = os.getpid()
        self._began = self._next = self._disturbed = 0.0
        self._size = os.terminal_size((0, 0))
        self._text = b""
        self._put: list[tuple[Any, str, Any]] = []
        self._lock = threading.RLock()
        self._past: deque[tuple[float, int, int]] = deque(maxlen=_SPAN + 1)
        # Shared with processes that are forked from this one: what they print needs the line out of the way too.
        self._state: Any = bytearray(3)

    def begin(self) -> None:
        try:
            raw = _raw(self._stream)
            if raw is None or not _wanted(raw):
                return
            self._state = mmap.mmap(-1, 3)
            self._state[_FRESH] = 1
            self._fd, self._write = raw.fileno(), raw.write
            for each in (self._stream, sys.stdout, sys.stderr):
                self._watch(each)
            os.register_at_fork(after_in_child=self._in_child)
            self._began = self.due = _now()
        except Exception:
            self._stop()

    def show(self, view: View) -> None:
        """More than the line, where there is one."""
        if self.due == math.inf:
            return
        self._view = view
        try:
            if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
                signal.signal(signal.SIGTSTP, self._suspended)
        except ValueError:
            pass  # not in the main thread: after Ctrl-Z, the shell writes over it

    def tick(self, env_steps: int, updates: int, mean_return: float | None = None) -> None:
        now = _now()
        if now >= self.due:
            self._tick(now, env_steps, updates, mean_return)

    def end(self) -> None:
        if os.getpid() == self._pid:
            with self._lock:
                self._stop()

    # ── drawing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _tick(self, now: float, env_steps: int, updates: int, mean_return: float | None) -> None:
        self.due = now + (_EVERY if self._view is None else _AGAIN)
        try:
            size = os.get_terminal_size(self._fd)
            old = now >= self._next or size != self._size
            if now >= self._next:
                self._next = now + _EVERY
                self._past.append((now, env_steps, updates))
            if len(self._past) < 2 or os.getpid() != self._pid:
                return
            if old:
                self._text = self._made(size, self._pace(mean_return))
            if old or (not self._state[_SHOWN] and now >= self._disturbed + _AGAIN):
                self._draw()
        except Exception:
            self._stop()

    def _pace(self, mean_return: float | None) -> str:
        (first, steps_then, updates_then), (now, steps, updates) = self._past[0], self._past[-1]
        seconds = max(now - first, 1e-9)
        parts = [_clock(now - self._began)]
        if steps:
            parts.append(f"{thousands(steps)} env steps ({_short((steps - steps_then) / seconds)}/s)")
        if updates:
            parts.append(f"{thousands(updates)} updates ({_short((updates - updates_then) / seconds)}/s)")
        if mean_return is not None:
            parts.append(f"return {_short(float(mean_return))}")
        return " · ".join(parts)

    def _made(self, size: os.terminal_size, pace: str) -> bytes:
        """The lines, and the way back to the start of the first."""
        # In the last column some terminals go on to the next line; some do not know how many they have.
        columns, rows = (size.columns or 80) - 1, size.lines or 24
        lines = [] if self._view is None else self._view(pace, columns, rows)
        if not 0 < len(lines) < rows:
            lines = [f"rldebug  {pace}"[: max(columns, 0)]]
        self._size = size
        up = f"\x1b[{len(lines) - 1}A" if len(lines) > 1 else ""
        return ("\r\n".join(lines) + up + "\r").encode(self._stream.encoding or "utf-8", "replace")

    def _draw(self) -> None:
        for each in (sys.stdout, sys.stderr):  # the program may have put another in their place
            self._watch(each)
        if not self._lock.acquire(blocking=False):
            return  # another thread is printing
        try:
            if self._state[_LEFT_ALONE]:
                self._stop()
            elif self._state[_FRESH] and _may_write(self._fd):
                self._state[_SHOWN] = 1  # first: it may be interrupted
                self._write(_ERASE + self._text)
                self._state[_SHOWN] = 1  # it may have been suspended
        finally:
            self._lock.release()

    def _hide(self) -> None:
        self._disturbed = _now()
        if self._state[_SHOWN]:
            self._state[_SHOWN] = 0
            self._write(_ERASE)

    def _suspended(self, number: int, frame: Any) -> None:
        """Ctrl-Z. The shell's own lines go where the program's would."""
        if self._lock.acquire(blocking=False):
            try:
                self._hide()
            except Exception:
                self._stop()
            finally:
                self._lock.release()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
        signal.signal(number, self._suspended)  # fg, or bg

    def _let_go(self) -> None:
        try:
            if self._view is not None and signal.getsignal(signal.SIGTSTP) == self._suspended:
                signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        except ValueError:
            pass  # not in the main thread; it does no harm

    def _stop(self) -> None:
        """Take the line away, and put everything back."""
        self.due = math.inf
        try:
            self._hide()
        except Exception:
            pass  # the terminal is gone
        self._let_go()
        while self._put:
            owner, name, ours = self._put.pop()
            if vars(owner).get(name) is ours:  # else somebody has put another there, which calls ours
                delattr(owner, name)
        self._state = bytearray(3)

    # ── what the program prints ─────────────────────────────────────────────────────────────────────────────────────

    def _watch(self, stream: Any) -> None:
        """Have the line taken away before anything is written to the terminal through this file."""
        raw = _raw(stream)
        if raw is None or any(stream is owner for owner, _, _ in self._put):
            return
        if not raw.isatty() or not os.path.samestat(os.fstat(raw.fileno()), os.fstat(self._fd)):
            return
        plain_write, plain_flush = raw.write, stream.flush

        def write(data: Any, /) -> Any:
            with self._lock:
                try:
                    self._make_way(bytes(data))
                except Exception:
                    self._stop()
                return plain_write(data)

        def flush() -> Any:
            # input() asks for this, and then writes its prompt by other ways.
            with self._lock:
                try:
                    self._hide()
                except Exception:
                    self._stop()
            return plain_flush()

        for owner, name, ours in ((raw, "write", write), (stream, "flush", flush)):
            if name not in vars(owner):
                setattr(owner, name, ours)
                self._put.append((owner, name, ours))

    def _make_way(self, data: bytes) -> None:
        self._hide()
        if b"\x1b" in data:
            if _MOVES.search(data):
                self._state[_LEFT_ALONE] = 1
            data = _COLOURS_LAST.sub(b"", data)
        if data:
            self._state[_FRESH] = data.endswith(b"\n")

    def _in_child(self) -> None:
        self._lock = threading.RLock()  # a thread that is not there any more may hold it
        self.due = math.inf
        self._let_go()


def _raw(stream: Any) -> Any:
    """The file beneath one of Python's own; None beneath any other, which is left alone."""
    if type(stream) is not io.TextIOWrapper or stream.closed:
        return None
    raw = getattr(stream.buffer, "raw", stream.buffer)  # python -u leaves out the buffer
    return raw if type(raw) is io.FileIO else None


def _wanted(raw: Any) -> bool:
    if os.name != "posix" or not raw.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return False
    if os.environ.get("CI", "").lower() not in ("", "0", "false") or "WORLD_SIZE" in os.environ:
        return False  # with torchrun, others write to the same terminal
    if sys.stdout is None:
        return True
    out = _raw(sys.stdout)
    # What goes into a pipe may come out on this terminal again: rldebug run train.py | tee log
    mode = os.fstat(out.fileno()).st_mode if out is not None else stat.S_IFIFO
    return not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _may_write(fd: int) -> bool:
    """Not in the background, and not while it is held with Ctrl-S: the program would be stopped, or wait."""
    try:
        if os.tcgetpgrp(fd) != os.getpgrp():
            return False
    except OSError:
        pass  # not the terminal that controls this process
    return bool(select.select([], [fd], [], 0)[1])


# As in render/progress.py, which needs rich: nothing heavy is imported before the program runs.


def _short(number: float) -> str:
    if not math.isfinite(number):
        return str(number)
    if abs(number) >= 1000:
        return thousands(round(number))
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2g}"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
