"""Timer: how much of the program's time went into watching it."""

from __future__ import annotations

import threading
import time


class _Here(threading.local):
    """Of this thread: the clock is that of the thread, and another one's says nothing about it."""

    depth = 0
    start = 0.0


class Timer:
    """What is done within, in all threads together. Within one another, in one thread, they count once."""

    __slots__ = ("_here", "spent")

    def __init__(self) -> None:
        self._here, self.spent = _Here(), 0.0

    def __enter__(self) -> None:
        here = self._here
        here.depth += 1
        if here.depth == 1:
            here.start = time.thread_time()  # not the wall clock: others may be using this machine too

    def __exit__(self, *_: object) -> None:
        here = self._here
        here.depth -= 1
        if not here.depth:
            self.spent += time.thread_time() - here.start
