"""Run: all readings of a run, read-only. The writer and the reader meet only on disk."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.lines import LONGEST, Named, glimpse, open_plain, read_small, sample
from rldebug.finding import Where

FORMAT = 1
MOST_LINES = 20_000  # of a run folder that are read whole, evenly spread; no recorder of ours writes as many
_MOST_BYTES = 32_000_000
_HUGE = 16_000_000_000  # bytes of a file that is not even looked through
_NAMED = 1000  # problems

FACTS: dict[str, str] = {
    "parameters": "pass policy= or critic= together with optimizer= to rldebug.watch(...)",
    "reach": "pass loss={'policy': …, 'value': …} with their graphs to dbg.update(...)",
    "detached": "pass loss={'policy': …, 'value': …} with their graphs to dbg.update(...)",
    "carried": "pass loss={'policy': …, 'value': …} with their graphs to dbg.update(...)",
    "graphs": "hand data over through dbg.rollout(...) or dbg.update(...)",
    "gradients": "pass policy= or critic= together with optimizer= to rldebug.watch(...)",
    "activations": "pass policy= or critic= to rldebug.watch(...) (modules under torch.compile are not seen inside)",
    "zeroing": "pass optimizer= to rldebug.watch(...)",
    "shapes": "pass logp_new=, value=, target= or advantage= to dbg.update(...)",
    "env": "pass env= to rldebug.watch(...)",
    "calls": "hand data over through dbg.rollout(...) or dbg.update(...)",
}
"""Facts that are not numbers over time, and what a user hands over to have them recorded."""


class RunError(Exception):
    """A run folder that cannot be opened; the message says what was expected."""


@dataclass(frozen=True)
class Series:
    """One reading over time. Undefined readings are NaN."""

    name: str
    update: NDArray[np.int64]
    env_step: NDArray[np.int64]
    value: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.value)

    def keep(self, keep: NDArray[Any]) -> Series:
        """The readings for which a condition holds."""
        return Series(self.name, self.update[keep], self.env_step[keep], self.value[keep])

    @property
    def finite(self) -> Series:
        return self.keep(np.isfinite(self.value))

    def between(self, start: float, end: float) -> Series:
        """The part from share `start` to share `end` of the updates this series covers: `between(0.5, 1)`."""
        if not len(self):
            return self
        span = int(self.update[-1] - self.update[0])
        if span <= 0:  # a single update is both the start and the end
            return self.keep(np.full(len(self), start <= 0 or end >= 1))
        share = (self.update - self.update[0]) / span
        return self.keep((share >= start) & (share <= end))

    def head(self, share: float) -> Series:
        return self.between(0.0, share)

    def tail(self, share: float) -> Series:
        return self.between(1.0 - share, 1.0)

    @property
    def updates(self) -> int:
        """Learner steps up to its last reading: the run may go on for long, and tell only its returns."""
        return int(self.update[-1]) + 1 if len(self) else 0

    @property
    def first(self) -> float:
        return float(self.value[0])

    @property
    def last(self) -> float:
        return float(self.value[-1])

    def median(self) -> float:
        values = self.finite.value
        with np.errstate(over="ignore"):  # of the sum of two that are nearly the largest
            return float(np.median(values)) if len(values) else math.nan

    def mean(self) -> float:
        values = self.finite.value
        with np.errstate(over="ignore"):
            return float(np.mean(values)) if len(values) else math.nan

    def min(self) -> float:
        values = self.finite.value
        return float(np.min(values)) if len(values) else math.nan

    def max(self) -> float:
        values = self.finite.value
        return float(np.max(values)) if len(values) else math.nan

    def quantile(self, q: float) -> float:
        values = self.finite.value
        return float(np.quantile(values, q)) if len(values) else math.nan

    def share(self, of: NDArray[np.bool_]) -> float:
        """Share of the readings for which a condition holds."""
        return float(np.mean(of)) if len(of) else math.nan

    def ema(self, half_life: float = 8.0) -> Series:
        """Exponential moving average over finite readings, corrected for its start."""
        kept = self.finite
        keep = 0.5 ** (1.0 / half_life)
        smooth, weight = 0.0, 0.0
        out = np.empty(len(kept))
        for i, value in enumerate(kept.value):
            smooth = keep * smooth + (1.0 - keep) * value
            weight = keep * weight + (1.0 - keep)
            out[i] = smooth / weight
        return Series(self.name, kept.update, kept.env_step, out)

    def where(self, index: int = -1) -> Where:
        return Where(update=int(self.update[index]), env_step=int(self.env_step[index]))

    def at(self, condition: NDArray[np.bool_]) -> int | None:
        """Index of the first reading for which a condition holds."""
        hits = np.flatnonzero(condition)
        return int(hits[0]) if len(hits) else None


@dataclass(frozen=True)
class Reading:
    """One recorded line."""

    update: int
    env_step: int
    seconds: float
    numbers: Mapping[str, float]
    facts: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    histograms: Mapping[str, Sequence[float]] = field(default_factory=dict)  # low, high, then the counts
    traces: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """Everything recorded, by name. `run["policy/kl"]` is a Series; a name never recorded gives an empty one.

    Readings taken once per optimizer are called `grad/norm@policy` where there are several: `run.each("grad/norm")`
    gives them all.
    """

    readings: Sequence[Reading]
    meta: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    problems: tuple[str, ...] = ()
    series: Mapping[str, Series] = field(default_factory=dict)

    @staticmethod
    def of(readings: Iterable[Reading], meta: Mapping[str, Any] | None = None, **more: Any) -> Run:
        kept = tuple(readings)
        return Run(kept, meta or {}, series=_columns(kept), **more)

    @staticmethod
    def from_series(
        numbers: Mapping[str, Sequence[float | None]],
        *,
        facts: Sequence[Mapping[str, Any]] | Mapping[str, Any] = (),
        tables: Mapping[str, Mapping[str, Sequence[float]]] | None = None,
        meta: Mapping[str, Any] | None = None,
        every: int = 1,
        env_steps_per_update: int = 64,
    ) -> Run:
        """A run from plain lists, one number per recorded update; None where nothing was read. For tests and examples.

        `facts`, if one mapping, are recorded with the first reading; `tables` with every reading.
        """
        length = max((len(each) for each in numbers.values()), default=1)
        listed = [facts] if isinstance(facts, Mapping) else list(facts)
        readings = [
            Reading(
                update=i * every,
                env_step=i * every * env_steps_per_update,
                seconds=float(i),
                numbers={
                    name: float(value)
                    for name, each in numbers.items()
                    if i < len(each) and (value := each[i]) is not None
                },
                facts=listed[i] if i < len(listed) else {},
                tables=tables or {},
            )
            for i in range(max(length, len(listed)))
        ]
        return Run.of(readings, meta)

    def __contains__(self, name: str) -> bool:
        return bool(self.each(name))

    def __getitem__(self, name: str) -> Series:
        empty = np.empty(0, dtype=np.int64)
        return self.series.get(name) or Series(name, empty, empty, np.empty(0))

    def each(self, name: str) -> list[Series]:
        """Every series of this reading: the plain one, or one per optimizer."""
        return [each for key, each in self.series.items() if key == name or key.startswith(f"{name}@")]

    def facts(self, name: str) -> list[tuple[Reading, Any]]:
        """Every recording of a structural fact, oldest first."""
        return [(each, each.facts[name]) for each in self.readings if name in each.facts]

    def table(self, name: str) -> list[tuple[Reading, Mapping[str, Sequence[float]]]]:
        return [(each, each.tables[name]) for each in self.readings if name in each.tables]

    def call(self, name: str) -> Where:
        """Where in the user's code `dbg.update`, `dbg.rollout` or `dbg.replay` was called."""
        for reading in self.readings:
            calls = reading.facts.get("calls")
            place = calls.get(name) if isinstance(calls, Mapping) else None
            if isinstance(place, (list, tuple)) and len(place) == 2 and isinstance(place[1], int):
                return Where(file=str(place[0]), line=place[1])
        return Where()

    @property
    def updates(self) -> int:
        """Learner steps the run took, recorded or not."""
        return max((each.update for each in self.readings), default=-1) + 1

    @property
    def env_steps(self) -> int:
        return max((each.env_step for each in self.readings), default=0)

    @property
    def gamma(self) -> float | None:
        gamma = self.meta.get("gamma")
        return gamma if isinstance(gamma, (int, float)) and not isinstance(gamma, bool) else None

    def last(self, readings: int = 1) -> Run:
        """The run as if only its last readings existed; what a trap looks at."""
        start = max(len(self.readings) - readings, 0)  # [-0:] would be all of them
        return Run.of(self.readings[start:], self.meta, path=self.path)

    def with_series(self, more: Iterable[Series]) -> Run:
        series = {**self.series, **{each.name: each for each in more}}
        return Run(self.readings, self.meta, self.path, self.problems, series)


def read_run(path: Path | str) -> Run:
    """Open a run folder. Damaged lines are named in `problems` and left out; the rest is kept."""
    path = Path(path)
    if not path.is_dir():
        raise RunError(f"{path} is not a run folder: expected a folder with run.json and readings.jsonl")
    meta_file = path / "run.json"
    problems: list[str] = []
    try:
        meta = json.loads(read_small(meta_file))
        if not isinstance(meta, dict):
            raise ValueError("expected a JSON object")
    except FileNotFoundError:
        raise RunError(f"{path} has no run.json: it is not a run folder, or was only partly copied") from None
    except (ValueError, RecursionError, OSError) as error:
        problems.append(f"run.json cannot be read ({one_line(error)}); versions and settings of the run are unknown")
        meta = {}
    if isinstance(meta.get("format"), int) and meta["format"] > FORMAT:
        raise RunError(
            f"{path} was written in format {meta['format']}, this rldebug reads up to {FORMAT}: "
            "upgrade with `pip install -U rldebug`"
        )
    readings, left_out = _read_lines(path / "readings.jsonl")
    return Run.of(readings, meta, path=path, problems=(*problems, *left_out))


def _read_lines(file: Path) -> tuple[list[Reading], tuple[str, ...]]:
    """The readings, or some of them where they are very many; and what is to be said about that."""
    try:
        with open_plain(file) as opened:
            size = os.fstat(opened.fileno()).st_size
            if size > _HUGE:
                return _read_some(glimpse(opened, size, MOST_LINES, seconds=10.0), size)
            found = sample(opened, MOST_LINES, _MOST_BYTES)
    except FileNotFoundError:
        return [], ("readings.jsonl is missing: nothing was recorded, or the folder was only partly copied",)
    except OSError as error:
        return [], (f"readings.jsonl cannot be read: {error}",)
    readings, problems = [], Named(_NAMED)
    for number, line in found.lines:
        try:
            if line is None:
                raise ValueError(f"it is longer than {LONGEST:,} bytes")
            if line.strip():
                readings.append(decode(json.loads(line)))
        except Exception as error:
            reason = "the last line was cut off in writing" if number == found.cut else one_line(error)
            problems.add(f"readings.jsonl line {number} was left out: {reason}")
    if len(found.lines) == found.total:
        return readings, problems.all()
    told = f"{found.total:,} readings were recorded; the diagnosis reads {len(readings):,} of them, evenly spread"
    return readings, (told, *problems.all())


def _read_some(lines: Sequence[tuple[int, bytes]], size: int) -> tuple[list[Reading], tuple[str, ...]]:
    readings = []
    for _, line in lines:
        with contextlib.suppress(Exception):
            readings.append(decode(json.loads(line)))
    spread = f"the diagnosis reads {len(readings):,} of its lines, evenly spread"
    return readings, (f"readings.jsonl has {size / 1e9:,.0f} GB; {spread}",)


def one_line(error: Exception) -> str:
    """One line, whatever was in the file."""
    text = " ".join(str(error).split())
    if isinstance(error, KeyError):
        text = f"{text} is missing"
    elif not isinstance(error, (ValueError, OSError)):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= 160 else f"{text[:160]}…"


def encode(reading: Reading) -> str:
    """One line of readings.jsonl. NaN and infinities are strings, so that the file stays valid JSON."""
    # By a template: a line has some 80 numbers, and this is many times as fast as json.dumps on a dict of them.
    numbers = _template(tuple(reading.numbers)) % tuple(reading.numbers.values())
    if "nan" in numbers or "inf" in numbers:
        numbers = ",".join([f"{json.dumps(name)}:{_number(value)}" for name, value in reading.numbers.items()])
    parts = [
        f'"update":{reading.update},"env_step":{reading.env_step},"seconds":{reading.seconds:.3f},"numbers":{{{numbers}}}'
    ]
    if reading.facts:
        facts = json.dumps(_plain(reading.facts), separators=(",", ":"), allow_nan=False, default=str)
        parts.append(f'"facts":{facts}')
    if reading.tables:
        tables = ",".join([f"{json.dumps(name)}:{_vectors(table)}" for name, table in reading.tables.items()])
        parts.append(f'"tables":{{{tables}}}')
    if reading.histograms:
        parts.append(f'"histograms":{_vectors(reading.histograms)}')
    if reading.traces:
        parts.append(f'"traces":{_vectors(reading.traces)}')
    return "{" + ",".join(parts) + "}"


@lru_cache(maxsize=256)
def _template(names: tuple[str, ...]) -> str:
    return ",".join([json.dumps(name).replace("%", "%%") + ":%.9g" for name in names])


def _number(value: float) -> str:
    text = f"{value:.9g}"  # nine digits bring every float32 back exactly
    return text if text[-1] not in "nf" else f'"{text}"'


def _vectors(named: Mapping[str, Sequence[float]]) -> str:
    """A JSON object of lists, six digits each."""
    rows = []
    for name, values in named.items():
        cells = ",".join([f"{value:.6g}" for value in values])
        if "n" in cells:  # nan or inf
            cells = ",".join([_number(value) for value in values])
        rows.append(f"{json.dumps(name)}:[{cells}]")
    return "{" + ",".join(rows) + "}"


def decode(line: Any) -> Reading:
    """The reading of a line that has been through JSON. A line is taken whole or not at all."""
    if not isinstance(line, Mapping):
        raise ValueError("expected a JSON object")
    for part in ("numbers", "facts", "tables", "histograms", "traces"):
        if not isinstance(line.get(part, {}), Mapping):
            raise ValueError(f"expected {part!r} to be a JSON object")
    return Reading(
        update=_count(line["update"]),
        env_step=_count(line["env_step"]),
        seconds=float(line["seconds"]),
        numbers={str(name): float(value) for name, value in line["numbers"].items()},
        facts=dict(line.get("facts", {})),
        tables={
            name: {row: [float(each) for each in cells] for row, cells in table.items()}
            for name, table in line.get("tables", {}).items()
        },
        histograms={name: [float(each) for each in cells] for name, cells in line.get("histograms", {}).items()},
        traces={name: [float(each) for each in cells] for name, cells in line.get("traces", {}).items()},
    )


def _count(value: Any) -> int:
    # An int64 later on: one line with a larger count must not cost all the others.
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError(f"{value!r} is not a count")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        if math.isfinite(value):
            return float(f"{value:.6g}")
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


def _columns(readings: Sequence[Reading]) -> dict[str, Series]:
    rows: dict[str, list[tuple[int, int, float]]] = {}
    for reading in readings:
        for name, value in reading.numbers.items():
            rows.setdefault(name, []).append((reading.update, reading.env_step, value))
    return {
        name: Series(
            name,
            np.array([each[0] for each in cells], dtype=np.int64),
            np.array([each[1] for each in cells], dtype=np.int64),
            np.array([each[2] for each in cells], dtype=np.float64),
        )
        for name, cells in rows.items()
    }
