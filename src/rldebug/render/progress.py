"""A training run as it goes on: a bar where there is a terminal, a line now and then where there is none."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from rldebug.finding import thousands

_SECONDS_BETWEEN_LINES = 5.0


class Show:
    """Call `tick` after every iteration. `every_line`: a line for each iteration, whatever the output is."""

    def __init__(self, out: Console, title: str, total: int, done: int, *, every_line: bool, quiet: bool) -> None:
        self.out, self.total, self.every_line, self.quiet = out, total, every_line, quiet
        self._began, self._before = time.perf_counter(), done
        self._last_line = float("-inf")
        self._bar: Progress | None = None
        self._task = TaskID(0)
        if out.is_terminal and not quiet:
            self._bar = Progress(
                TextColumn("[bold]{task.description}"),
                BarColumn(bar_width=20 if out.width >= 100 else 8),
                TaskProgressColumn(),
                TextColumn("{task.fields[numbers]} ·"),
                TimeRemainingColumn(compact=True),
                TextColumn("left"),
                console=out,
            )
            self._task = self._bar.add_task(title, total=total, completed=done, numbers="starting")
            self._bar.start()

    def tick(self, iteration: int, done: int, numbers: Mapping[str, float]) -> None:
        if self.quiet:
            return
        now = time.perf_counter()
        pace = (done - self._before) / max(now - self._began, 1e-9)
        said = [f"{name} {short(each)}" for name, each in numbers.items()]
        speed = f"{thousands(int(pace))} steps/s"
        if self._bar is not None:  # there is room for a few: the return, and what the algorithm names first
            self._bar.update(
                self._task,
                completed=min(done, self.total),
                numbers=" · ".join([speed, *said[: 2 if self.out.width >= 100 else 1]]),
            )
        if self.every_line or (self._bar is None and now - self._last_line > _SECONDS_BETWEEN_LINES):
            self._last_line = now
            left = clock((self.total - done) / pace) if pace > 0 else "?"
            line = " · ".join([f"iteration {iteration}: {thousands(done)} steps", *said, speed, f"{left} left"])
            self.out.print(line, style="dim", soft_wrap=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def short(number: Any) -> str:
    """Four digits at most: 0.01234 → 0.0123, 187.34 → 187.3, 123456 → 123 456."""
    value = float(number)
    if value != value or abs(value) == float("inf"):
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        return thousands(int(value))
    if abs(value) >= 1000:
        return thousands(round(value))
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.3g}"


def clock(seconds: float) -> str:
    minutes, second = divmod(round(max(seconds, 0.0)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
