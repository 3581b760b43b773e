"""One run folder that somebody looks at: read on as it grows, judged now and then."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rldebug.dashboard.runs import Process
from rldebug.dashboard.written import read_findings
from rldebug.evidence.run import Run, one_line
from rldebug.evidence.tail import Tail
from rldebug.evidence.timing import FILE, Timing
from rldebug.evidence.timings.reading import TimingError, read_timing
from rldebug.exhibit import shown
from rldebug.finding import thousands
from rldebug.render.shown import Shown

_JUDGED = ("run.json", "readings.jsonl", "script.jsonl", "sources.jsonl", "graph.json", FILE, "yardstick.json")
_DRAWN = (FILE, "frames/index.jsonl", "clips/index.jsonl", "clips/live.png")
_OFTEN = 1.0  # seconds between two versions for which only readings have come
_LARGEST = 64_000_000  # bytes of timing.json
_FIRST_JUDGING, _PAUSE = 5.0, 3.0  # seconds between two; or so many times what the last one took


class Followed:
    def __init__(self, process: Process) -> None:
        self.process = process
        self.version = 0
        self.told: Mapping[str, Any] | None = None  # by the judge
        self.unjudged = ""  # why not
        self._tail = Tail(process.folder)
        self._lock = threading.RLock()
        self._stamps: dict[str, tuple[int, ...]] = {}
        self._timing: Timing | None = None
        self._timing_problem = ""
        self._news, self._bumped = True, 0.0
        self._run = self._named(Run(()))
        self._counts = 0, 0
        self._judged: tuple[Any, ...] | None = None  # what was there when it was judged last
        self._judging = False
        self._judged_at, self._took = 0.0, 0.0

    def read(self, seconds: float) -> bool:
        """Read on; True where there is more to read at once."""
        with self._lock:
            self._news |= self._tail.read(seconds)
            stamps = {name: _stamp(self.process.folder / name) for name in _DRAWN}
            if stamps != self._stamps:
                if stamps[FILE] != self._stamps.get(FILE):
                    self._read_timing(stamps[FILE])
                self._stamps, self._news, self._bumped = stamps, True, 0.0
            now = time.monotonic()
            if self._news and now - self._bumped >= _OFTEN:
                self._run = self._named(self._known())
                self._counts = self._run.updates, self._run.env_steps
                self.version += 1
                self._news, self._bumped = False, now
            return not self._tail.done

    def _read_timing(self, stamp: tuple[int, ...]) -> None:
        self._timing, self._timing_problem = None, ""
        if not stamp:
            return
        try:
            if stamp[1] > _LARGEST or _stamp(self.process.folder / "sources.jsonl")[1:2] > (_LARGEST,):
                raise TimingError(f"{FILE} is too large to be shown")
            self._timing = read_timing(self.process.folder)
        except TimingError as error:
            self._timing_problem = str(error).replace(f"{self.process.folder}{os.sep}", "")
        except Exception as error:
            self._timing_problem = f"{FILE} is damaged: {type(error).__name__}"

    @property
    def counts(self) -> tuple[int, int]:
        """Updates and env steps, as of the last version."""
        return self._counts

    # ── judging ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def due(self, running: bool) -> bool:
        """Is it to be judged (anew)? A run that goes on not all the time: others need the machine too."""
        if self._judging or self._judged == self._all():
            return False
        pause = max(_FIRST_JUDGING, _PAUSE * self._took)
        return not running or self._judged is None or time.monotonic() - self._judged_at >= pause

    def judge(self, ask: Callable[[Path], Mapping[str, Any]], failed: type[Exception]) -> None:
        began, there = time.monotonic(), self._all()
        told, unjudged = self.told, ""
        try:
            told = ask(self.process.folder)
        except failed as error:
            unjudged = str(error).replace(f"{self.process.folder.absolute()}", self.process.folder.name)
        with self._lock:
            self.told, self.unjudged, self._judged = told, unjudged, there
            self._judged_at = time.monotonic()
            self._took, self._judging = self._judged_at - began, False
            self.version += 1

    def begin_judging(self) -> None:
        self._judging = True

    def _all(self) -> tuple[Any, ...]:
        return tuple(_stamp(self.process.folder / name) for name in _JUDGED)

    @property
    def verdict(self) -> dict[str, int] | None:
        """How many errors, warnings and notes the judge has found."""
        if self.told is None:
            return None
        found = [each["severity"] for each in self.told["report"]["findings"] if not each["follows"]]
        return {f"{each}s": found.count(each) for each in ("error", "warning", "note")}

    # ── showing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def shown(self, picture: Callable[[Path], str], state: str = "", **more: Any) -> Shown:
        with self._lock:
            run, timing, told = self._run, self._timing, self.told
            words = [state, self._state(), self._timing_problem]
        report = read_findings(self.process.folder) if told is None and not self.unjudged else None
        if report is not None and report.clean:
            report = None  # that nothing was found says little, as long as nobody says what was looked at
        if report is not None:
            words.append("this was found when it ended; it is being looked at anew …")
        said = "; ".join(each for each in words if each)
        made = shown(run, told, timing=timing, picture=picture, linked=True, state=said, **more)
        return made if report is None else replace(made, report=report)

    def _known(self) -> Run:
        try:
            return self._tail.run()
        except Exception as error:  # something in a folder that nobody thought of
            return Run((), path=self.process.folder, problems=(f"the run cannot be read: {one_line(error)}",))

    def _named(self, run: Run) -> Run:
        return replace(run, meta={**run.meta, "name": self.process.label})

    def _state(self) -> str:
        if not self._tail.done:
            return (
                f"reading: {self._tail.share:.0%} so far, {thousands(self._tail.lines)} lines; the rest is coarse yet"
            )
        return ""


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        about = os.lstat(file)
    except OSError:
        return ()
    return about.st_mtime_ns, about.st_size
