"""Minibatches: each row once, and whole. For rollout buffers, and for functions that only cut a rollout up."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from rldebug.oracles.audit.coding import Form, Report, Track, said, table
from rldebug.oracles.audit.read import Columns, array_of, columns, distinct, named, read, stacked
from rldebug.oracles.audit.rows import HOW, Rows, cut, empty, hold, pairs

FIELDS = ("reward", "value", "logp", "advantage", "return")
_MOST = 64  # minibatches that are taken from a generator that may never end


def batches(result: Any) -> list[Any]:
    """A generator's minibatches, or the only one."""
    if isinstance(result, Iterator) or inspect.isgenerator(result):
        return list(islice(result, _MOST))
    if isinstance(result, (list, tuple)) and len(result) > 1 and all(_row_numbers(each) for each in result):
        return list(result)
    loader = type(result).__name__ in ("DataLoader",)
    if loader:
        return list(islice(iter(result), _MOST))
    if isinstance(result, (list, tuple)) and result and not hasattr(result, "_fields"):
        inner = [each for each in result if isinstance(each, (dict, tuple, list)) or hasattr(each, "_fields")]
        kinds = {type(each) for each in result}
        if len(inner) == len(result) and len(kinds) == 1 and not _numbers(result[0]):
            return list(result)
    return [result]


def _row_numbers(value: Any) -> bool:
    array = array_of(value) if isinstance(value, np.ndarray) or hasattr(value, "detach") else None
    return array is not None and array.ndim == 1 and array.dtype.kind in "iu"


def links(parts: Sequence[Columns], form: Form, track: Track) -> dict[str, dict[int, frozenset[int | None]]]:
    """Of each field, the steps it came from beside each observation: other ones at the next call are chance."""
    reading = read(stacked(parts), form, FIELDS)
    by_code = {step.code: step.number for step in track.all}
    if reading.obs is None:
        return {}
    numbers = [by_code.get(code, 0) if code is not None else 0 for code in reading.obs]
    fields = {"action": reading.action, **reading.scalars}
    found: dict[str, dict[int, frozenset[int | None]]] = {}
    for name, cells in fields.items():
        if cells is None:
            continue
        held: dict[int, set[int | None]] = {}
        for number, cell in zip(numbers, cells, strict=True):
            held.setdefault(number, set()).add(cell)
        found[name] = {number: frozenset(each) for number, each in held.items()}
    return found


APART = ("", "envs-mixed", "fields-drawn-apart", "drawn-with-replacement", "rows-missing", "rows-twice")


def by_chance(first: Mapping[str, Any], second: Mapping[str, Any], report: Report) -> None:
    """Fields that go with other observations at the next call are drawn each by itself: then that is the fault."""
    shifted = [f"{each}-shifted" for each in ("obs", "action", "reward", "value", "logp", "advantage", "return")]
    for name, held in first.items():
        both = held.keys() & second.get(name, {}).keys()
        if any(held[number] != second[name][number] for number in both):
            report.faults = [fault for fault in report.faults if fault.name not in (*APART, *shifted)]
            report.add(
                "fields-drawn-apart",
                f"{name} of another step than obs, now this, now that",
                "all fields of a row from the same step",
            )
            return


def _numbers(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(each, (int, float, np.generic)) for each in value)


def as_columns(batch: Any, sizes: Sequence[int], shape: tuple[int, int], form: Form) -> Columns:
    """Rows as they are, or (T, B) or (B, T) flattened: the first way in which observations can be read."""
    for rows in dict.fromkeys(sizes):
        found = columns(batch, rows)
        if found and read(found, form, FIELDS).obs is not None:
            return found
    for lead in (shape, shape[::-1]):
        found = {
            path: values.reshape(lead[0] * lead[1], -1) if values.shape[1] % lead[1] == 0 else values
            for path, values in columns(batch, lead[0]).items()
        }
        found = {path: values for path, values in found.items() if len(values) == lead[0] * lead[1]}
        if found and read(found, form, FIELDS).obs is not None:
            return found
    return {}


def lengths(batch: Any) -> list[int]:
    """First axes of the arrays in it, the most frequent first."""
    found: list[int] = []

    def look(value: Any, depth: int) -> None:
        array = array_of(value) if hasattr(value, "detach") or isinstance(value, np.ndarray) else None
        if array is not None and array.ndim:
            found.append(array.shape[0])
        elif depth < 3 and hasattr(value, "keys"):
            for key in list(value.keys()):
                look(value[key], depth + 1)
        elif depth < 3 and isinstance(value, (list, tuple)):
            found.append(len(value))
            for each in value:
                look(each, depth + 1)
        elif depth < 3 and getattr(value, "__dict__", None):
            look(vars(value), depth + 1)

    look(batch, 0)
    return [length for length, _ in Counter(found).most_common()]


def check_batches(
    parts: Sequence[Columns], form: Form, track: Track, scene: str, takes: Sequence[str], report: Report, first: int = 0
) -> Rows | None:
    """All minibatches of an epoch together: rows that belong together, each of them once."""
    every = stacked(parts)
    reading = read(distinct(every)[0], form, FIELDS)
    if reading.obs is None:
        return None
    rows = hold(reading, track, scene, takes)
    rows.first = first
    before = len(report.faults)
    cut(rows, report)
    empty(rows, report)
    pairs(rows, report, sums=True)
    for what, path in reading.where.items():
        called = named(path)
        if what != called and {what, called} <= {"value", "logp", "reward"}:
            report.add(
                "fields-exchanged", f"{path} holds what was added as {what}, on {scene}", f"what was added as {called}"
            )
    whole = read(every, form, FIELDS)
    spoilt = {fault.name for fault in report.faults[before:]} & {
        "",
        "fields-drawn-apart",
        "unfilled-rows",
        "rows-share-one-array",
    }
    if whole.obs is not None and not spoilt:
        _once(hold(whole, track, scene, takes), [len(next(iter(part.values()))) for part in parts], report, first)
    return rows


def _once(rows: Rows, sizes: Sequence[int], report: Report, first: int) -> None:
    steps = [step for step in rows.track.all if step.time >= first]
    old = [step for step in rows.anchor if step is not None and step.time < first]
    if old:
        report.add(
            "old-rows-kept", f"step {old[0]} of the rollout before, on {rows.scene}", "steps of this rollout only"
        )
        return
    times = Counter(step.number for step in rows.anchor if step is not None)
    counts = {times.get(step.number, 0) for step in steps}
    if len(counts) == 1 and counts != {0}:
        _order(rows, report)
        return
    missing = [step for step in steps if not times.get(step.number)]
    twice = [step for step in steps if times.get(step.number, 0) > 1]
    parts, start = [], 0
    for size in sizes:
        parts.append(frozenset(step.number for step in rows.anchor[start : start + size] if step is not None))
        start += size
    name = "rows-missing" if missing and not twice else "rows-twice"
    if missing and twice:
        within = any(len(part) < size for part, size in zip(parts, sizes, strict=True))
        name = (
            "same-batch-each-time"
            if len(parts) > 1 and len(set(parts)) == 1 and not within
            else "drawn-with-replacement"
        )
    lines = [(str(step), str(times.get(step.number, 0)), "1") for step in steps]
    wrong = [number for number, line in enumerate(lines) if line[1] != "1"]
    shown = table(
        rows.scene, f"minibatches of {', '.join(map(str, sizes))} rows; {HOW}", ("step", "yours", "right"), lines, wrong
    )
    which = (missing or twice)[0]
    report.add(
        name,
        f"step {said(which.code)} comes {times.get(which.number, 0)} times in an epoch, on {rows.scene}",
        "once",
        shown,
    )


def _order(rows: Rows, report: Report) -> None:
    numbers = [step.number for step in rows.anchor if step is not None]
    columns_ = [step.env * 1000 + step.time for step in rows.anchor if step is not None]
    if len(numbers) > 7 and (numbers == sorted(numbers) or columns_ == sorted(columns_)):
        report.note("rows come in the order they were added: minibatches are not shuffled")
