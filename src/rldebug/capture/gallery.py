"""Gallery: the folder `frames` of a run, with looks at what goes into a network or a function and what comes out.

    frames/index.jsonl           one line for each look that is kept
    frames/000012-before.png     beside it, where it is a picture

Few are kept, and they get rarer: when there are too many, every other one goes, and the gap between two is doubled.
"""

from __future__ import annotations

import json
import os
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rldebug.capture.pictures import array_of, side
from rldebug.capture.png import encode

KEPT = 200
FIRST = (1, 10, 100)  # times that are looked at in any case
_GRACE = 0.5  # seconds that looks may take in any case
_SHARE = 0.005  # of the program's time


class Gallery:
    def __init__(self, folder: Path, clock: Callable[[], tuple[int, int]], every: int = 1000) -> None:
        self.folder, self.clock = folder, clock  # the clock tells updates and steps of environments so far
        self.every = every
        self.gap = 1  # how much rarer looks have become
        self.spent = 0.0  # seconds
        self.took: Callable[[float], None] = lambda seconds: None
        self.problem: str | None = None  # why nothing is kept any more
        self._lines: list[dict[str, Any]] = []
        self._number = 0
        self._began = time.monotonic()
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def due(self, count: int, every: int | None = None) -> bool:
        """Whether the count-th time is looked at."""
        return count in FIRST or count % ((every or self.every) * self.gap) == 0

    def next_due(self, count: int) -> int:
        """The first time after this one."""
        gap = self.every * self.gap
        return min(*(each for each in FIRST if each > count), (count // gap + 1) * gap, 1 << 62)

    def keep(self, source: str, name: str, before: Any, after: Any) -> None:
        """Never raises. Arrays, tensors or numbers; what is none is not kept."""
        if self.problem is not None or os.getpid() != self._pid or not self._affordable():
            return
        start = time.thread_time()
        try:
            with self._lock:
                self._keep(source, name, before, after)
        except OSError as error:
            self.problem = f"frames are not kept any more: {error}"
        except Exception:
            self.problem = f"frames are not kept any more: {traceback.format_exc()}"
        seconds = time.thread_time() - start
        self.spent += seconds
        self.took(seconds)

    def _affordable(self) -> bool:
        return self.spent <= _GRACE + _SHARE * (time.monotonic() - self._began)

    def _keep(self, source: str, name: str, before: Any, after: Any) -> None:
        arrays = {"before": array_of(before), "after": array_of(after)}
        if arrays["after"] is None or arrays["before"] is None:
            return
        self._number += 1
        update, env_step = self.clock()
        seconds = round(time.monotonic() - self._began, 3)
        line: dict[str, Any] = {"n": self._number, "update": update, "env_step": env_step, "seconds": seconds}
        line.update(source=source, name=name)
        self.folder.mkdir(exist_ok=True)
        for place, given in (("before", before), ("after", after)):
            array = arrays[place]
            assert array is not None
            told, picture = side(array, str(getattr(given, "dtype", "")).removeprefix("torch."))
            if picture is not None:
                told["png"] = f"{self._number:06d}-{place}.png"
                (self.folder / told["png"]).write_bytes(encode(picture))
            line[place] = told
        self._lines.append(line)
        with (self.folder / "index.jsonl").open("a", encoding="utf-8") as file:
            file.write(_text(line))
        if len(self._lines) > KEPT:
            self._thin()

    def _thin(self) -> None:
        gone, self._lines = self._lines[1::2], self._lines[::2]
        self.gap *= 2
        draft = self.folder / "index.part"
        draft.write_text("".join(map(_text, self._lines)), encoding="utf-8")
        draft.replace(self.folder / "index.jsonl")  # first: what is listed is there
        for line in gone:
            for place in ("before", "after"):
                if line[place]["png"] is not None:
                    (self.folder / line[place]["png"]).unlink(missing_ok=True)


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"
