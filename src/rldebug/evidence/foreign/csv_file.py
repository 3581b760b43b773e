"""Tables in text files: progress.csv and monitor.csv of Stable-Baselines3, progress.txt of Spinning Up, their like."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rldebug.evidence.foreign.log import Column, Log
from rldebug.evidence.run import RunError

_NAMES = ("progress.csv", "monitor.csv", "progress.txt")
_MONITOR = {"r": "episodic_return", "l": "episodic_length", "t": "time_elapsed"}


def read_csv(where: Path) -> Log:
    """A line of names, then a row per line of the log. Blank cells were not logged. A first line of `#` and JSON is the
    Monitor's."""
    if where.is_dir():
        inside = [where / name for name in _NAMES if (where / name).is_file()]
        if len(inside) != 1:
            found = " and ".join(each.name for each in inside) or "none of them"
            raise RunError(f"{where} holds {found}: expected one of {', '.join(_NAMES)}, or name the file")
        where = inside[0]
    if not where.is_file():
        raise RunError(f"{where} is not a file: expected progress.csv or monitor.csv, with a line of names first")
    data = where.read_bytes()
    if b"\0" in data[:4096]:
        raise RunError(f"{where} is not a text file: it holds zero bytes")
    lines = data.decode("utf-8-sig", errors="replace").splitlines()
    before = [line for line in lines[:1] if line.startswith("#")]
    lines = lines[len(before) :]
    if not lines or not lines[0].strip():
        raise RunError(f"{where} is empty: expected a line of names, then a line of numbers for each step of the log")
    delimiter = max(",\t;", key=lines[0].count)
    try:
        header, *rows = csv.reader(lines, delimiter=delimiter)
    except csv.Error as error:
        raise RunError(f"{where} is not a table of numbers: {error}") from error
    names = [each.strip() for each in header]
    if all(_number(each) is not None for each in names):
        raise RunError(f"{where} begins with numbers: expected a line of names first")
    problems: list[str] = []
    cells = _cells(names, rows, 2 + len(before), problems)
    if not any(cells.values()):
        raise RunError(f"{where} has names and no numbers: nothing was logged, or it was only partly copied")
    monitor = set(_MONITOR) <= set(names)
    if monitor:
        cells = _episodes(cells)
    columns = {name: Column.of(own) for name, own in cells.items() if own}
    settings = _settings(before)
    return Log("a CSV file", where, columns, settings, tuple(problems), counts_env_steps=monitor, thing="column")


def _cells(
    names: Sequence[str], rows: Sequence[Sequence[str]], first: int, problems: list[str]
) -> dict[str, list[tuple[int, float, float]]]:
    """By column: number of the row, seconds unknown, value."""
    cells: dict[str, list[tuple[int, float, float]]] = {name: [] for name in names}
    words: dict[str, tuple[int, str]] = {}
    long = []
    for number, row in enumerate(rows):
        if len(row) > len(names):
            long.append(number + first)
            continue
        for name, cell in zip(names, row, strict=False):
            if not cell.strip():
                continue
            value = _number(cell)
            if value is None:
                words.setdefault(name, (number + first, cell.strip()[:40]))
            else:
                cells[name].append((number + 1, math.nan, value))
    if long:
        problems.append(f"{len(long)} lines have more cells than names and were left out, the first is line {long[0]}")
    for name, (line, cell) in words.items():
        if cells[name]:  # else it is a column of words
            problems.append(f"cells of {name} that are no numbers were left out, the first is {cell!r} in line {line}")
    return cells


def _episodes(cells: dict[str, list[tuple[int, float, float]]]) -> dict[str, list[tuple[int, float, float]]]:
    """The Monitor's: a row per episode. Steps are those of this environment alone."""
    length = {row: value for row, _, value in cells["l"] if math.isfinite(value)}
    seconds = {row: value for row, _, value in cells["t"]}
    ends: dict[int, int] = {}
    steps = 0
    for row in sorted(length):
        steps += int(length[row])
        ends[row] = steps
    return {
        _MONITOR.get(name, name): [
            (ends[row], seconds.get(row, math.nan), value) for row, _, value in own if row in ends
        ]
        for name, own in cells.items()
    }


def _settings(before: Sequence[str]) -> dict[str, Any]:
    try:
        told = json.loads(before[0][1:]) if before else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return {"True": 1.0, "False": 0.0}.get(cell.strip())
