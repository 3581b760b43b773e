"""What other people's viewers are given of a run, arranged once for all of them: every reading under its own name,
again under the tag that users of CleanRL or Stable-Baselines3 look for, and smoothed; histograms; the diagnosis.

Free of torch: it runs beside a program that trains.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from rldebug.evidence.lines import PIECE, Splitter, open_plain
from rldebug.evidence.run import Reading, Run, decode
from rldebug.evidence.tags import Convention, conventional
from rldebug.finding import Finding, Report, rank

HALF_LIFE = 8.0  # readings, of the smoothed twins; as Series.ema
_NOT_SETTINGS = frozenset({"format", "pid", "crash", "broken", "warnings", "how", "error", "seconds"})
_MARKS = str.maketrans({each: f"\\{each}" for each in "\\`*_[]<>#|"})


class ExportError(Exception):
    """What cannot be written to a viewer; the message says what was expected."""


def need(package: str) -> None:
    """An extra of ours, called as the package is."""
    if find_spec(package) is None:
        raise ExportError(f"{package} is not installed: pip install 'rldebug[{package}]'")


@dataclass(frozen=True)
class Histogram:
    """Counts in equal bins between two finite bounds."""

    low: float
    high: float
    counts: tuple[float, ...]

    @property
    def edges(self) -> list[float]:
        width = (self.high - self.low) / len(self.counts)
        return [*(self.low + width * i for i in range(len(self.counts))), self.high]


@dataclass(frozen=True)
class Moment:
    """One reading, as a viewer is given it: by tag."""

    step: int  # of the environment
    update: int
    seconds: float
    wall: float  # seconds since 1970
    numbers: Mapping[str, float]
    histograms: Mapping[str, Histogram]


class Viewer(Protocol):
    """Where moments go to, in order."""

    @property
    def where(self) -> str: ...

    def add(self, moment: Moment) -> None: ...

    def flush(self) -> None: ...

    def close(self, report: Report | None, settings: Mapping[str, str], last: Moment) -> None: ...


@dataclass
class Arranger:
    """Readings to moments. It remembers what smoothing needs, and nothing else: a run may be of any length."""

    meta: Mapping[str, Any]
    convention: Convention = "cleanrl"
    last: Moment = field(init=False)
    _smooth: dict[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._started = started(self.meta)
        self.last = Moment(0, 0, 0.0, self._started, {}, {})

    def __call__(self, reading: Reading) -> Moment:
        numbers = dict(reading.numbers)
        for name, value in reading.numbers.items():
            for tag in conventional(name, self.convention):
                numbers[getattr(tag, self.convention)] = tag.from_ours(value)
        for name, value in reading.numbers.items():
            if math.isfinite(value) and not name.partition("@")[0].endswith("fingerprint"):
                numbers[f"smoothed/{name}"] = self._ema(name, value)
        histograms = {name: each for name, cells in reading.histograms.items() if (each := _histogram(cells))}
        seconds = reading.seconds if math.isfinite(reading.seconds) else self.last.seconds
        wall = self._started + seconds
        self.last = Moment(reading.env_step, reading.update, seconds, wall, numbers, histograms)
        return self.last

    def _ema(self, name: str, value: float) -> float:
        keep: float = 0.5 ** (1.0 / HALF_LIFE)
        smooth, weight = self._smooth.get(name, (0.0, 0.0))
        smooth, weight = keep * smooth + (1.0 - keep) * value, keep * weight + (1.0 - keep)
        self._smooth[name] = smooth, weight
        return smooth / weight


def started(meta: Mapping[str, Any]) -> float:
    """Seconds since 1970; now, where the run does not tell."""
    try:
        return datetime.strptime(str(meta.get("started")), "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except ValueError:
        return time.time()


def _histogram(cells: Iterable[float]) -> Histogram | None:
    """None where nothing can be drawn: no counts, or bounds that are not finite."""
    numbers = list(cells)
    if len(numbers) < 3 or not all(map(math.isfinite, numbers)) or numbers[1] < numbers[0] or min(numbers[2:]) < 0:
        return None
    return Histogram(numbers[0], numbers[1], tuple(numbers[2:]))


# ── in words ────────────────────────────────────────────────────────────────────────────────────────────────────────


def settings_of(meta: Mapping[str, Any]) -> dict[str, str]:
    """What is known of how the run was made, flat: `env.id`, `versions.torch`."""
    found: dict[str, str] = {}

    def collect(name: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, each in value.items():
                collect(f"{name}.{key}" if name else str(key), each)
        elif isinstance(value, (list, tuple)):
            if value:
                found[name] = " ".join(map(str, value))
        elif value is not None and value != "":
            found[name] = str(value)

    collect("", {key: value for key, value in meta.items() if key not in _NOT_SETTINGS})
    return found


def settings_text(settings: Mapping[str, str]) -> str:
    rows = [f"| {name.translate(_MARKS)} | {_line(value)} |" for name, value in settings.items()]
    return "\n".join(["| setting | value |", "|---|---|", *rows])


def diagnosis_text(report: Report | None) -> str:
    """Markdown: suspects, then findings, roots first."""
    if report is None:
        return "No diagnosis was recorded with this run; `rldebug report RUN` makes one."
    if not report.findings:
        return "Nothing wrong was found."
    suspects = suspects_text(report)
    parts = [f"**Suspects:** {suspects}"] if suspects else []
    for each in report.findings:
        lines = [f"### {each.severity} {each.code} {each.name.translate(_MARKS)}", "", _line(each.message), ""]
        told = (("seen", each.seen), ("expected", each.expected), ("help", each.help), ("where", str(each.where)))
        lines += [f"- **{name}:** {_line(text)}" for name, text in told if text]
        if each.follows:
            lines.append(f"- **follows from:** {', '.join(each.follows)}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def suspects_text(report: Report) -> str:
    return ", ".join(f"{each.component.replace('_', ' ')} ({each.score:.2f})" for each in report.suspects)


def _line(text: str) -> str:
    """In one line, and as it stands: a name with an underscore in it is no emphasis."""
    return " ".join(text.split()).translate(_MARKS)


# ── reading on ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Lines:
    """The readings of a run folder, each once, also while it grows. A line is waited for until it is whole."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "readings.jsonl"
        self.read = self.left_out = 0
        self._place = 0
        self._splitter = Splitter()

    def new(self) -> Iterator[Reading]:
        """What was written since the last call."""
        try:
            file = open_plain(self.file)
        except FileNotFoundError:
            return
        with file:
            file.seek(self._place)
            while piece := file.read(PIECE):
                self._place += len(piece)
                yield from self._decoded(self._splitter.feed(piece))

    def rest(self) -> Iterator[Reading]:
        """A last line without an end to it, where it is whole all the same."""
        yield from self._decoded(self._splitter.feed(b"\n"))

    def _decoded(self, lines: Iterable[bytes | None]) -> Iterator[Reading]:
        for line in lines:
            if line is not None and not line.strip():
                continue
            try:
                reading = decode(json.loads(line or b""))
            except Exception:
                self.left_out += 1
            else:
                self.read += 1
                yield reading


def read_findings(folder: Path) -> Report | None:
    """What `rldebug run` or `rldebug.watch` has left of its diagnosis; None where it left nothing."""
    try:
        lines = (folder / "findings.jsonl").read_bytes().split(b"\n")
    except OSError:
        return None
    found: dict[tuple[Any, ...], Finding] = {}
    for line in lines:
        try:
            finding = Finding.from_dict(json.loads(line))
        except Exception:
            continue  # a line that is cut off, or not ours
        found[finding.code, finding.where, finding.message] = finding
    return Report(command="report", findings=rank(found.values()))


def write_run(run: Run, report: Report | None, viewer: Viewer, convention: Convention = "cleanrl") -> None:
    """A whole run at once."""
    arranger = Arranger(run.meta, convention)
    for reading in run.readings:
        viewer.add(arranger(reading))
    viewer.close(report, settings_of(run.meta), arranger.last)


def names_for(allowed: Callable[[str], str]) -> Callable[[str], str]:
    """What a viewer calls our tags: as it allows, and two different ones never the same."""
    known: dict[str, str] = {}
    taken: set[str] = set()

    def name(tag: str) -> str:
        if tag not in known:
            wanted = found = allowed(tag)
            number = 2
            while found in taken:
                found, number = f"{wanted}_{number}", number + 1
            known[tag] = found
            taken.add(found)
        return known[tag]

    return name
