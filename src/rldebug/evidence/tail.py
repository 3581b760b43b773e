"""Tail: a run folder, read on as it grows. Its memory is bounded whatever lies in the folder."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.lines import LONGEST, PIECE, Named, Splitter, Spread, glimpse, open_plain, read_small
from rldebug.evidence.run import FORMAT, Reading, Run, Series, decode, one_line
from rldebug.evidence.thin import Thinned

_BIG = 8_000_000  # bytes; of a bigger file a glimpse is taken before it is read through
_GLIMPSES = 500
_GLIMPSE_SECONDS = 0.3
_NAMES = 2000  # series
_LONG_NAME = 300
_KINDS = 64  # of lines, by what is in them
_TEXT = 4_000_000  # bytes of the lines that are kept whole
_NAMED = 20  # problems
_MARK = 256


class Tail:
    """A run folder, read on as it grows, within bounded memory.

    `read` reads on for a while; `run` is what is known by now. A big file that was not read to its end yet is known
    coarsely beyond, from lines picked all over it.
    """

    def __init__(self, folder: Path, *, points: int = 2000, lines: int = 2000) -> None:
        self.folder = Path(folder)
        self._points, self._whole = points, lines
        self._meta: dict[str, Any] = {}
        self._meta_stamp: tuple[int, ...] = ()
        self._meta_problem = self._file_problem = ""
        self._restarts = 0
        self._begin()

    def _begin(self) -> None:
        """Nothing was read: of a file that is new, or not the one it was."""
        self.done, self.share, self.lines = False, 0.0, 0
        self._at = self._number = 0
        self._inode = (0, 0)
        self._head = self._mark = b""
        self._splitter = Splitter()
        self._kept = _Whole(self._whole)
        self._series: dict[str, Thinned] = {}
        self._newest: tuple[int, Any] = (0, None)
        self._beyond: list[tuple[int, Reading]] = []
        self._problems = Named(_NAMED)
        self._names_problem = ""
        self._restarts += 1

    def read(self, seconds: float = 0.05) -> bool:
        """Read on for at most about so long; True where something is new."""
        before = self._state()
        self._read_meta()
        try:
            with open_plain(self.folder / "readings.jsonl") as file:
                self._read_on(file, time.monotonic() + seconds)
            self._file_problem = ""
        except FileNotFoundError:
            gone = not self.folder.is_dir()
            self._file_problem = f"{self.folder} is not there" if gone else ""
            self.done, self.share = True, 1.0
        except Exception as error:
            self._file_problem = f"readings.jsonl cannot be read: {one_line(error)}"
            self.done = True
        return self._state() != before

    def run(self) -> Run:
        """As of now. The readings are some of the lines, whole; the series have every spike."""
        readings = {number: reading for number, _, reading in self._kept.all()}
        number, newest = self._newest
        if number and number not in readings:
            with contextlib.suppress(Exception):  # its tables, of which only the numbers were looked at
                readings[number] = decode(newest)
        beyond = [reading for at, reading in self._beyond if at >= self._at]
        series = {name: thinned.series() for name, thinned in self._series.items()}
        for name, more in Run.of(beyond).series.items():
            if name in series:
                series[name] = _joined(series[name], more)
            elif len(series) < _NAMES and len(name) <= _LONG_NAME:
                series[name] = more
        told = [self._meta_problem, self._file_problem, self._names_problem, *self._problems.all()]
        problems = tuple(each for each in told if each)
        return Run((*(readings[each] for each in sorted(readings)), *beyond), self._meta, self.folder, problems, series)

    def _state(self) -> tuple[Any, ...]:
        told = self._meta_problem, self._file_problem, len(self._problems.first), self._problems.more
        return self.lines, len(self._beyond), self.done, self._meta_stamp, self._restarts, told

    def _read_meta(self) -> None:
        file = self.folder / "run.json"
        try:
            state = os.lstat(file)
            stamp = (state.st_mtime_ns, state.st_size, state.st_ino, state.st_mode)
            if stamp == self._meta_stamp:
                return
            self._meta_stamp, self._meta_problem = stamp, ""
            meta = json.loads(read_small(file))
            if not isinstance(meta, dict):
                raise ValueError("expected a JSON object")
            self._meta = meta
            if isinstance(meta.get("format"), int) and meta["format"] > FORMAT:
                told = f"written in format {meta['format']}, this rldebug reads up to {FORMAT}"
                self._meta_problem = f"{told}: upgrade with `pip install -U rldebug`"
        except FileNotFoundError:
            self._meta_stamp, self._meta_problem = (), "run.json is missing: it is not a run folder, or not yet"
        except Exception as error:
            self._meta_problem = f"run.json cannot be read ({one_line(error)})"

    def _read_on(self, file: IO[bytes], until: float) -> None:
        state = os.fstat(file.fileno())
        size, inode = state.st_size, (state.st_dev, state.st_ino)
        if self._at and not (inode == self._inode and size >= self._at and self._same(file)):
            self._begin()
        self._inode = inode
        if not self._at and size > _BIG and not self._beyond:
            self._beyond = _readings(glimpse(file, size, _GLIMPSES, _GLIMPSE_SECONDS))
        file.seek(self._at)
        while self._at < size and (piece := file.read(min(PIECE, size - self._at))):
            self._at += len(piece)
            self._head += piece[: _MARK - len(self._head)]
            self._mark = (self._mark + piece)[-_MARK:]
            self._take(self._splitter.feed(piece))
            if time.monotonic() >= until:
                break
        self.done = self._at >= size
        self.share = self._at / size if size else 1.0
        if self.done:
            self._beyond = []

    def _same(self, file: IO[bytes]) -> bool:
        """Is what was read still there? A file that replaced another may have got its inode."""
        file.seek(0)
        if file.read(len(self._head)) != self._head:
            return False
        file.seek(self._at - len(self._mark))
        return file.read(len(self._mark)) == self._mark

    def _take(self, lines: list[bytes | None]) -> None:
        batch, kept = _Batch(), self._kept
        numbered = [(i, line) for i, line in enumerate(lines, start=self._number + 1) if line is None or line.strip()]
        self._number += len(lines)
        for (number, line), found in zip(numbered, _parsed([line for _, line in numbered]), strict=True):
            try:
                numbers, update, env_step = found["numbers"], found["update"], found["env_step"]
                kind = 0 if len(found) == 4 else hash((*found, *found.get("facts", ())))
                if kept.turn(kind):
                    kept.keep(kind, number, len(line or b""), decode(found))
                elif (
                    not (type(update) is type(env_step) is int and 0 <= update < 2**63 > env_step >= 0)
                    or type(found["seconds"]) is not float
                ):
                    decode(found)  # which is slow, and raises where that is wrong
                batch.add(update, env_step, tuple(numbers), [*map(float, numbers.values())])
                self._newest = (number, found)
            except Exception as error:
                self._problems.add(f"readings.jsonl line {number} was left out: {_reason(found, error)}")
        self.lines += len(batch)
        for name, update, env_step, value in batch.columns():
            if thinned := self._thinned(name):
                thinned.extend(update, env_step, value)

    def _thinned(self, name: str) -> Thinned | None:
        found = self._series.get(name)
        if found is None and len(self._series) < _NAMES and len(name) <= _LONG_NAME:
            found = self._series[name] = Thinned(name, self._points)
        if found is None:
            self._names_problem = f"only {_NAMES:,} names of at most {_LONG_NAME} characters are read; there are others"
        return found


def _parsed(lines: list[bytes | None]) -> list[Any]:
    """Each line as JSON; an error stands for one that is not, or is too long."""
    with contextlib.suppress(Exception):  # all at once is twice as fast
        found = json.loads(f"[{b','.join(cast(list[bytes], lines)).decode()}]")
        if len(found) == len(lines):
            return cast(list[Any], found)
    return [_parsed_alone(each) for each in lines]


def _parsed_alone(line: bytes | None) -> Any:
    if line is None:
        return ValueError(f"it is longer than {LONGEST:,} bytes")
    try:
        return json.loads(line)
    except Exception as error:
        return error


def _reason(found: Any, error: Exception) -> str:
    """Why a line was left out, as `read_run` says it."""
    if isinstance(found, Exception):
        return one_line(found)
    try:
        decode(found)
    except Exception as plainer:
        return one_line(plainer)
    return one_line(error)


def _readings(lines: list[tuple[int, bytes]]) -> list[tuple[int, Reading]]:
    """What can be read of a glimpse: what cannot is named later, when the file is read through."""
    while len(lines) > 1 and sum(len(line) for _, line in lines) > _TEXT:
        lines = lines[::2] if len(lines) % 2 else lines[1::2]  # the newest stays
    found = []
    for at, line in lines:
        with contextlib.suppress(Exception):
            found.append((at, decode(json.loads(line))))
    return found


def _joined(first: Series, then: Series) -> Series:
    update = np.concatenate((first.update, then.update))
    env_step = np.concatenate((first.env_step, then.env_step))
    return Series(first.name, update, env_step, np.concatenate((first.value, then.value)))


class _Whole:
    """Lines kept whole, evenly spread among those of their kind: with the same parts, and facts of the same names.

    Facts that are rare are all there, then, however many lines there are without them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kinds: dict[int, Spread[Reading]] = {0: Spread()}

    def turn(self, kind: int) -> bool:
        return (self._kinds.get(kind) or self._of(kind)).turn()

    def keep(self, kind: int, place: int, weight: int, reading: Reading) -> None:
        self._of(kind).keep(place, weight, reading)
        kinds = self._kinds.values()
        while sum(len(each.kept) for each in kinds) > self._most:
            max(kinds, key=lambda each: len(each.kept)).halve()
        while sum(each.weight for each in kinds) > _TEXT:
            max(kinds, key=lambda each: each.weight).halve()

    def all(self) -> list[tuple[int, int, Reading]]:
        return [kept for each in self._kinds.values() for kept in each.kept]

    def _of(self, kind: int) -> Spread[Reading]:
        if kind not in self._kinds and len(self._kinds) < _KINDS:
            self._kinds[kind] = Spread()
        return self._kinds.get(kind, self._kinds[0])


class _Batch:
    """The numbers of some lines, turned into columns together: one conversion per set of names, not one per number."""

    def __init__(self) -> None:
        self._update: list[int] = []
        self._env_step: list[int] = []
        self._groups: dict[tuple[str, ...], tuple[list[int], list[list[float]]]] = {}

    def __len__(self) -> int:
        return len(self._update)

    def add(self, update: int, env_step: int, names: tuple[str, ...], values: list[float]) -> None:
        group = self._groups.get(names)
        if group is None:
            group = self._groups[names] = ([], [])
        group[0].append(len(self._update))
        group[1].append(values)
        self._update.append(update)
        self._env_step.append(env_step)

    def columns(self) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
        update, env_step = np.array(self._update, dtype=np.int64), np.array(self._env_step, dtype=np.int64)
        found: dict[str, list[tuple[NDArray[np.int64], NDArray[np.float64]]]] = {}
        for names, (lines, rows) in self._groups.items():
            at, table = np.array(lines), np.array(rows).T
            for name, column in zip(names, table, strict=True):
                found.setdefault(name, []).append((at, column))
        for name, parts in found.items():
            at, value = (np.concatenate(each) for each in zip(*parts, strict=True))
            if len(parts) > 1:  # lines of several sets of names: back into their order
                order = np.argsort(at)
                at, value = at[order], value[order]
            yield name, update[at], env_step[at], value
