"""How a run goes, in a few lines at the bottom of a terminal: in the order of the page, diagnosis first, losses last.

The newest readings are read on from the run folder; of what is shown, a thinned curve is kept. What was found is told
by whoever judges the run, as often as that may be done.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import numpy as np
from rich.text import Text

from rldebug.evidence.learning import RETURNS, learning
from rldebug.evidence.run import Run, Series
from rldebug.finding import Report, thousands
from rldebug.render.progress import clock, short
from rldebug.render.terminal import SEVERITY_STYLE, console, count, place

_TALLEST, _LOWEST = 12, 5  # lines, where half of the window has room for them
_WIDEST, _NARROWEST = 120, 48  # columns
_ROOMY = 72  # columns, from which on what stands at the right is not left out
_FINDINGS = 3
_LABEL = 10  # columns
_SPARK = 12  # columns
_BAR = 8  # columns
_POINTS = 256  # of a curve
_OLD = 0.5  # of all updates, before which a reading is no longer of now
_AT_ONCE = 1 << 20  # bytes that are read on
_LEVELS = "▁▂▃▄▅▆▇█"

Format = Callable[[float], str]


def _short(value: float) -> str:
    return short(value) if abs(value) < 1e7 else f"{value:.3g}"


def _percent(share: float) -> str:
    return f"{short(round(100 * share, 1))} %"


def _megabytes(number: float) -> str:
    return f"{thousands(round(number / 1e6))} MB"


# Each line: its label, then name, metric, how its value is written, whether it has a curve. What was never read is left
# out; of several optimizers each has its own.
_LINES: tuple[tuple[str, tuple[tuple[str, str, Format, bool], ...]], ...] = (
    (
        "policy",
        (
            ("kl", "policy/kl", _short, False),
            ("entropy", "policy/entropy", _short, True),
            ("clipped", "policy/clip_fraction", _percent, False),
            ("epsilon", "exploration/epsilon", _short, False),
        ),
    ),
    (
        "values",
        (
            ("residual variance", "value/residual_var", _short, True),
            ("mean", "value/mean", _short, False),
            ("of targets", "target/mean", _short, False),
        ),
    ),
    (
        "gradients",
        (
            ("norm", "grad/norm", _short, True),
            ("steps", "step/log10_ratio", lambda value: f"{_short(100 * 10 ** min(value, 9.0))} % of weights", False),
            ("rate", "optimizer/lr", _short, False),
        ),
    ),
    (
        "pace",
        (
            ("env steps/s", "pace/env_steps", _short, True),
            ("memory", "host/resident", _megabytes, True),
            ("GPU", "gpu/utilisation", _percent, False),
            ("of its memory", "gpu/allocated", _megabytes, True),
        ),
    ),
    ("losses", (("policy", "loss/policy", _short, True), ("value", "loss/value", _short, True))),
)
_WANTED = {*RETURNS, *(metric for _, cells in _LINES for _, metric, _, _ in cells)}


class Curve:
    """One reading over time, thinned as it grows: what is kept spans the whole run evenly."""

    def __init__(self) -> None:
        self.update, self.last = 0, math.nan
        self.points: list[tuple[int, int, float]] = []  # update, env step, value
        self._seen, self._stride = 0, 1

    def add(self, update: int, env_step: int, value: float) -> None:
        self.update, self.last = max(update, self.update), value
        if self._seen % self._stride == 0:
            self.points.append((self.update, env_step, value))
        if len(self.points) >= _POINTS:
            self.points, self._stride = self.points[::2], 2 * self._stride
        self._seen += 1


class Live:
    """`found` whenever the run was judged, `now` and `lines` whenever it is to be drawn."""

    def __init__(self, title: str, folder: Path, stream: TextIO, *, judged: bool = True) -> None:
        self._title = _printable(title)
        self.unjudged = "being looked at …" if judged else "recorded only, not judged"  # said until it was judged
        self._out = console(file=stream)  # it decides on colours
        self._readings, self._at = folder / "readings.jsonl", 0
        self._curves: dict[str, Curve] = {}
        self._report: Report | None = None
        self._found = 0.0
        self._updates = 0

    def now(self, updates: int, env_steps: int, returns: Sequence[float]) -> None:
        """What was counted, and the episodes that have ended since: readings may be rare, where time is short."""
        self._read_on()
        self._updates = updates
        if len(returns):
            self._add(RETURNS[0], updates, env_steps, sum(map(float, returns)) / len(returns))

    def found(self, report: Report) -> None:
        self._report, self._found = report, time.monotonic()

    def lines(self, pace: str, columns: int, rows: int) -> list[str]:
        """None where there is too little room, or the terminal cannot show them."""
        room, columns = min(_TALLEST, rows // 2), min(columns, _WIDEST)
        if room < _LOWEST or columns < _NARROWEST or not self._out.encoding.startswith("utf"):
            return []
        texts = [Text(), self._head(pace, columns), *self._body(columns, _FINDINGS if room == _TALLEST else 1)]
        with self._out.capture() as drawn:
            for each in texts[:room]:
                each.truncate(columns, overflow="ellipsis")
                self._out.print(each, soft_wrap=True)
        return drawn.get().split("\n")[:-1]

    def _body(self, columns: int, findings: int) -> Iterator[Text]:
        yield from self._diagnosis(columns, findings)
        yield from self._learning(columns)
        for label, cells in _LINES:
            filled = [each for cell in cells for each in self._of(*cell)]
            if filled:
                newest = max(curve.update for _, curve, _, _ in filled)
                old = f"at update {thousands(newest)}" if newest < _OLD * self._updates else ""
                yield _line(label, [_cell(*each) for each in filled], columns, old)

    # ── readings ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _read_on(self) -> None:
        try:
            with self._readings.open("rb") as file:
                file.seek(self._at)
                data = file.read(_AT_ONCE)
        except OSError:
            return  # nothing could be recorded; what is counted is still shown
        whole = data.rfind(b"\n") + 1  # the rest is being written
        self._at += whole
        for line in data[:whole].splitlines():
            reading = json.loads(line)
            for name, value in reading["numbers"].items():
                if name.partition("@")[0] in _WANTED:
                    self._add(name, reading["update"], reading["env_step"], float(value))

    def _add(self, name: str, update: int, env_step: int, value: float) -> None:
        self._curves.setdefault(name, Curve()).add(update, env_step, value)

    def _of(self, name: str, metric: str, write: Format, curve: bool) -> Iterator[tuple[str, Curve, Format, bool]]:
        for key, each in self._curves.items():
            base, _, whose = key.partition("@")
            if base == metric:
                yield f"{name} {_printable(whose)}".strip(), each, write, curve

    # ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _head(self, pace: str, columns: int) -> Text:
        text = Text("── ", style="blue")
        text.append("rldebug", style="bold")
        text.append(f" · {self._title}", style="default")
        text.append(f" · {pace} ", style="default")
        text.append("─" * (columns - text.cell_len))
        return text

    def _diagnosis(self, columns: int, room: int) -> Iterator[Text]:
        report = self._report
        if report is None:
            yield Text(f" {self.unjudged}", style="dim")
            return
        ago = f"judged {clock(time.monotonic() - self._found)} ago"
        wrong = [each for each in report.roots if each.severity != "note"]
        for each in wrong[:room]:
            text = Text(f" {each.severity}[{each.code}] ", style=SEVERITY_STYLE[each.severity])
            text.append(_printable(each.message), style="default bold")
            where = replace(each.where, update=None, env_step=None) if each.where.file else each.where
            yield _spread(text, _printable(place(where)), columns)
        if wrong:
            bars = [_suspect(each.component, each.score) for each in report.suspects[:3]]
            more = f"{len(wrong) - room} more · " if len(wrong) > room else ""
            yield _line("suspects", bars, columns, more + ago)
        elif report.checked:
            text = Text(" nothing wrong found so far", style="bold green")
            yield _spread(text, f"{count(len(report.checked), 'rule')} ran · {ago}", columns)
        else:
            yield _spread(Text(" nothing could be checked yet", style="dim"), ago, columns)

    def _learning(self, columns: int) -> Iterator[Text]:
        """Speed and plateau apart."""
        name = next((each for each in RETURNS if each in self._curves), None)
        if name is None:
            return
        curve = self._curves[name]
        with np.errstate(all="ignore"):
            seen = learning(Run((), series={name: _series(name, curve)}))
        if seen is None:
            cells = [_cell("", curve, _short, True)]
        elif seen.moved:
            cells = [
                _cell("", curve, lambda value: f"{_short(seen.start)} → {_short(seen.plateau)}", True),
                _named("", "levelled out" if seen.settled else "still moving"),
            ]
            shares = (("half", seen.half), ("90 %", seen.most))
            paces = [f"{share} by {thousands(steps)}" for share, steps in shares if steps is not None]
            if paces:
                cells.append(_named("speed", f"{', '.join(paces)} env steps"))
        else:
            cells = [_cell("", curve, lambda value: f"stays at {_short(seen.plateau)} (±{_short(seen.noise)})", True)]
        yield _line("return" if "return" in name or "trajectory" in name else "reward", cells, columns)


def _line(label: str, cells: Sequence[Text], columns: int, right: str = "") -> Text:
    """As many cells as there is room for."""
    text = Text(f" {label.ljust(_LABEL)}", style="bold")
    right = right if columns >= _ROOMY else ""
    for i, each in enumerate(cells):
        if i and text.cell_len + 3 + each.cell_len + len(right) + 2 * bool(right) > columns:
            break
        text.append("   " if i else "")
        text.append_text(each)
    return _spread(text, right, columns)


def _named(name: str, value: str) -> Text:
    return Text.assemble((f"{name} " if name else "", "not bold dim"), (value, "not bold"))


def _cell(name: str, curve: Curve, write: Format, drawn: bool) -> Text:
    text = _named(name, "")
    odd = not math.isfinite(curve.last)
    text.append(str(curve.last) if odd else write(curve.last), style="bold yellow" if odd else "not bold")
    line = spark([(update, value) for update, _, value in curve.points]) if drawn else ""
    if line:
        text.append(f" {line}", style="not bold cyan")
    return text


def _suspect(component: str, score: float) -> Text:
    bar = "█" * max(round(_BAR * score), 1)
    text = _named(component, "")
    text.append(bar, style="not bold red" if score >= 0.8 else "not bold yellow")
    text.append(f" {score:.2f}", style="not bold")
    return text


def _spread(left: Text, right: str, columns: int) -> Text:
    """`right` at the right end, where there is room for it."""
    if len(right) > columns // 2:
        right = f"…{right[1 - columns // 2 :]}"
    if right and (columns >= _ROOMY or left.cell_len + 2 + len(right) <= columns):
        left.truncate(columns - len(right) - 2, overflow="ellipsis")
        left.append(" " * (columns - left.cell_len - len(right)))
        left.append(right, style="not bold default dim")
    return left


def spark(points: Sequence[tuple[int, float]], width: int = _SPARK) -> str:
    """A curve of single characters, each the mean over its part of the updates."""
    finite = [(update, value) for update, value in points if math.isfinite(value)]
    if len(finite) < 3:
        return ""
    first, last = finite[0][0], finite[-1][0]
    parts: list[list[float]] = [[] for _ in range(min(width, len(finite)))]
    for update, value in finite:
        parts[(update - first) * len(parts) // (last - first + 1)].append(value)
    means = [sum(each) / len(each) for each in parts if each]
    low, high = min(means), max(means)
    if not math.isfinite(high - low):
        return ""  # too large to be told apart
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return _LEVELS[3] * len(means)
    return "".join(_LEVELS[round((each - low) / (high - low) * (len(_LEVELS) - 1))] for each in means)


def _series(name: str, curve: Curve) -> Series:
    updates, steps, values = zip(*curve.points, strict=True)
    return Series(name, np.array(updates), np.array(steps), np.array(values))


def _printable(text: str) -> str:
    """Names come from the program, and may hold what a terminal would obey."""
    return "".join(each if each.isprintable() else " " for each in text)
