"""Timer: how much of the program's time went into watching it."""

from __future__ import annotations

import time


class Timer:
    """What is done within, in all. Within one another they count once."""

    __slots__ = ("_depth", "_start", "spent")

    def __init__(self) -> None:
        self._depth, self._start, self.spent = 0, 0.0, 0.0

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._start = time.thread_time()  # not the wall clock: others may be using this machine too

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.spent += max(time.thread_time() - self._start, 0.0)  # of two threads, it may be another's
