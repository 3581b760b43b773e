"""Rows that came back, held against the steps that went in: which field is that of another step, and of which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rldebug.evidence.verification import Table
from rldebug.oracles.audit.coding import Code, Report, Step, Track, said, scalar, table
from rldebug.oracles.audit.read import Reading, named

HOW = "env/episode/step, counted from 0"


@dataclass
class Rows:
    """A reading beside the track it is of. `anchor` is the step that most fields of a row belong to."""

    reading: Reading
    track: Track
    scene: str
    takes: frozenset[str]
    anchor: list[Step | None]
    first: int = 0  # the time of the oldest step that is still held

    @property
    def known(self) -> list[tuple[int, Step]]:
        return [(row, step) for row, step in enumerate(self.anchor) if step is not None and not self.reading.empty[row]]

    def inner(self, step: Step) -> bool:
        """Whether the steps before and after it are held too."""
        return self.first < step.time < self.track.length - 1


def hold(reading: Reading, track: Track, scene: str, takes: Sequence[str], first: int = 0) -> Rows:
    by_number = {step.number: step for step in track.all}
    by_code = {step.code: step for step in track.all}
    by_next = {step.next_code: step for step in track.all}
    anchor: list[Step | None] = []
    for row in range(reading.rows):
        votes: list[Step | None] = []
        if reading.obs is not None:
            votes.append(_get(by_code, reading.obs[row]))
        if reading.action is not None:
            votes.append(_get(by_number, reading.action[row]))
        votes += [_get(by_number, cells[row]) for cells in reading.scalars.values()]
        if reading.next_obs is not None and reading.obs is not None:
            votes.append(_get(by_next, reading.next_obs[row]))
        counted = Counter(step.number for step in votes if step is not None)
        anchor.append(by_number[counted.most_common(1)[0][0]] if counted else None)
    return Rows(reading, track, scene, frozenset(takes), anchor, first)


def _get(table_: dict[Any, Step], key: Any) -> Step | None:
    return None if key is None else table_.get(key)


def check(rows: Rows, report: Report, *, sums: bool = False) -> None:
    """All that can be wrong within a row. `sums`: rewards need not come back as they were."""
    reading = rows.reading
    if reading.swapped:
        _fault(rows, report, "obs-swapped", 0, "obs and next_obs are exchanged")
    cut(rows, report)
    empty(rows, report)
    pairs(rows, report, sums=sums)
    if reading.next_obs is not None:
        _next(rows, report, {step.code: step for step in rows.track.all})
    _flags(rows, report)


def pairs(rows: Rows, report: Report, *, sums: bool = False) -> None:
    """Fields whose cells each say which step they are of."""
    reading = rows.reading
    by_code = {step.code: step for step in rows.track.all}
    if reading.obs is not None:
        _numbers(rows, report, "obs", [None if each is None else by_code.get(each) for each in reading.obs])
    by_number = {step.number: step for step in rows.track.all}
    if reading.action is not None:
        _numbers(rows, report, "action", [_get(by_number, each) for each in reading.action])
    elif "action" in rows.takes and "action" not in reading.cut:
        report.add("", "no field of what came back holds the actions", "the actions that were added")
    for what, cells in reading.scalars.items():
        _numbers(rows, report, what, [_get(by_number, each) for each in cells])
    if "reward" in rows.takes and "reward" not in reading.scalars and not sums and not _scaled(rows, report):
        report.add("", "no field of what came back holds the rewards", "the rewards that were added")


def _scaled(rows: Rows, report: Report) -> bool:
    """Whether a field holds the rewards times a number, or their sign: some clip and scale as they store."""
    known = rows.known
    right = np.array([scalar("reward", step.number) for _, step in known])
    for path, values in rows.reading.raw.items():
        if path in rows.reading.where.values() or values.shape[1] != 1 or named(path) not in (None, "reward"):
            continue
        theirs = np.array([values[row, 0] for row, _ in known], dtype=float)
        if np.all(theirs == 1):
            report.note("rewards come back as their sign")
            return True
        if len(set(theirs.tolist())) > 2 and np.allclose(theirs, theirs[0] / right[0] * right, rtol=1e-4):
            report.note(f"rewards come back times {theirs[0] / right[0]:.4g}")
            return True
    return False


def cut(rows: Rows, report: Report) -> None:
    for what in ("obs", "action", "reward"):
        if what in rows.reading.cut:
            report.add(
                f"{what}-cut-to-whole-numbers", f"{what} came back as whole numbers", "the numbers that were added"
            )


def empty(rows: Rows, report: Report) -> None:
    reading = rows.reading
    lost = [row for row in range(reading.rows) if reading.empty[row] or rows.anchor[row] is None]
    if not lost:
        return
    if all(reading.empty[row] for row in lost) or len(lost) < reading.rows:
        seen = f"{len(lost)} of {reading.rows} sampled rows hold {'zeros' if reading.empty[lost[0]] else 'no step'}"
        report.add("unfilled-rows", f"{seen}, on {rows.scene}", "only rows that were added")
    else:
        report.add("", "no sampled row belongs to any step that was added", "rows that were added")


def _numbers(rows: Rows, report: Report, what: str, cells: Sequence[Step | None]) -> None:
    """A field whose cell says which step it is of."""
    known = [(row, step, cells[row]) for row, step in rows.known]
    off = [(row, step, cell) for row, step, cell in known if cell is None or cell.number != step.number]
    if not off:
        return
    row = off[0][0]
    found = [cell for _, _, cell in off if cell is not None]
    strays = [each for each, step, cell in off if cell is not None and cell.env != step.env]
    if strays:
        _fault(rows, report, "envs-mixed", strays[0], f"{what} of another environment")
        return
    if what == "obs" and len({cell.number for _, _, cell in known if cell is not None}) == 1 and len(known) > 3:
        _fault(rows, report, "rows-share-one-array", row, "the same observation in every row")
        return
    inner = [(step, cell) for _, step, cell in known if rows.inner(step)]
    shifts = Counter(None if cell is None else cell.time - step.time for step, cell in inner)
    by = next(iter(shifts), None)
    if len(shifts) == 1 and by is not None and 0 < abs(by) <= 2:
        _fault(rows, report, f"{what}-shifted", row, f"{what} of {_ago(by)}")
    elif not found or len(found) < len(off):
        _fault(rows, report, "", row, f"{what} that was never added")
    elif len(shifts) > 2:
        _fault(rows, report, "fields-drawn-apart", row, f"{what} of another step, now this, now that")
    else:
        _fault(rows, report, "", row, f"{what} of another step")


def _ago(by: int) -> str:
    steps = "step" if abs(by) == 1 else f"{abs(by)} steps"
    return f"the {steps} {'before' if by < 0 else 'after'}"


def _next(rows: Rows, report: Report, by_code: dict[Code, Step]) -> None:
    cells = rows.reading.next_obs
    assert cells is not None
    taken = "next_obs" in rows.takes
    known = [(row, step) for row, step in rows.known if taken or not step.done]
    off = [(row, step) for row, step in known if cells[row] != step.next_code]
    if not off:
        return
    row = off[0][0]
    last = rows.track.length - 1
    if len(off) == len(known) and all(cells[r] == step.code for r, step in off):
        _fault(rows, report, "next-obs-is-obs", row, "next_obs equals obs")
    elif any(_env(cells[r], step) for r, step in off):
        stray = next(r for r, step in off if _env(cells[r], step))
        _fault(rows, report, "envs-mixed", stray, "next_obs of another environment")
    elif all(step.time == last for _, step in off):
        _fault(rows, report, "next-obs-over-write-position", row, "the newest row is joined with the oldest")
    elif all(step.time == last or (step.done and cells[r] == step.reset_code) for r, step in off):
        _fault(
            rows,
            report,
            "next-obs-of-next-episode",
            next(r for r, step in off if step.done),
            "next_obs of the next episode",
        )
    else:
        inner = [(r, step) for r, step in known if rows.inner(step)]
        shifts = {_shift(cells[r], step, by_code) for r, step in inner}
        if len({cells[r] for r, _ in known}) == 1 and len(known) > 3:
            _fault(rows, report, "rows-share-one-array", row, "the same next_obs in every row")
        elif len(shifts) == 1 and shifts != {0} and None not in shifts:
            by = next(iter(shifts)) or 0
            _fault(rows, report, "next-obs-shifted", row, f"next_obs of {_ago(by)}")
        elif len(shifts) > 2:
            _fault(rows, report, "fields-drawn-apart", row, "next_obs of another step, now this, now that")
        else:
            _fault(rows, report, "", row, "next_obs of another step")


def _env(cell: Code | None, step: Step) -> bool:
    return cell is not None and cell[0] != step.env


def _shift(cell: Code | None, step: Step, by_code: dict[Code, Step]) -> int | None:
    """By how many steps next_obs is off, along the environment's own time."""
    if cell is None:
        return None
    if cell == step.next_code:
        return 0
    started = by_code.get((cell[0], cell[1], cell[2] - 1))
    if started is not None:
        return started.time - step.time
    reached = by_code.get(cell)
    return None if reached is None else reached.time - step.time - 1


Wanted = Callable[[Step], bool]
_TRUTH: dict[str, Wanted] = {
    "terminated": lambda step: step.terminated,
    "truncated": lambda step: step.truncated,
    "done": lambda step: step.done,
}


def _flags(rows: Rows, report: Report) -> None:
    fed = rows.takes & {"done", "terminated", "truncated", "not_done"}
    known = rows.known
    if not fed or not any(step.done for _, step in known):
        return
    told: dict[str, str] = {}
    odd: list[str] = []
    for path, cells in rows.reading.flags.items():
        what = _fits(rows, cells)
        hint = named(path)
        if what.startswith("not ") and hint in ("done", "terminated", "truncated") and what[4:] != "nothing":
            report.add("done-inverted", f"{path} is 1 where the episode goes on, on {rows.scene}", "1 where it ends")
            told[path] = what[4:]
        elif hint == "not_done" and what in ("done", "terminated"):
            report.add("done-inverted", f"{path} is 1 where the episode ends, on {rows.scene}", "1 where it goes on")
            told[path] = what
        elif what:
            told[path] = what
        else:
            odd.append(path)
    exact = set(told.values())
    of = {each.removeprefix("not ") for each in exact}
    if of & {"terminated", "done", "truncated"}:
        if {"terminated", "truncated"} <= fed and "terminated" not in of and not _discounts(rows):
            row = next((r for r, step in known if step.truncated), 0)
            _fault(rows, report, "truncation-as-termination", row, "done is set where the episode was only cut off")
        odd = [path for path in odd if named(path) in ("done", "terminated", "truncated", "not_done")]
    if not rows.reading.flags or (exact and exact <= {"nothing", "not nothing"} and not odd):
        row = next(r for r, step in known if step.done)
        _fault(rows, report, "done-lost", row, "no field tells where an episode ends")
        return
    for path in odd:
        _odd_flag(rows, report, path)


def _discounts(rows: Rows) -> bool:
    return any(named(path) == "discount" for path in rows.reading.raw)


def _fits(rows: Rows, cells: Any) -> str:
    wanted: list[tuple[str, Wanted]] = [*_TRUTH.items(), ("nothing", lambda step: False)]
    for name, truth in wanted:
        right = np.array([truth(step) for _, step in rows.known], dtype=float)
        theirs = np.array([cells[row] for row, _ in rows.known])
        if np.array_equal(theirs, right):
            return name
        if np.array_equal(theirs, 1 - right):
            return f"not {name}"
    return ""


def _odd_flag(rows: Rows, report: Report, path: str) -> None:
    cells = rows.reading.flags[path]
    at = {(step.env, step.time): step for step in rows.track.all}
    inner = [(row, step) for row, step in rows.known if rows.inner(step)]
    first = next((r for r, step in rows.known if cells[r] != step.done), 0)
    for by in (-1, 1, -2, 2):
        moved = [(row, at.get((step.env, step.time + by))) for row, step in inner]
        held = [(row, step) for row, step in moved if step is not None]
        for truth in _TRUTH.values():
            if held and all(cells[row] == truth(step) for row, step in held):
                _fault(rows, report, "done-shifted", first, f"{path} of {_ago(by)}")
                return
    apart: dict[int, set[float]] = {}
    for row, step in rows.known:
        apart.setdefault(step.number, set()).add(float(cells[row]))
    if any(len(each) > 1 for each in apart.values()):
        _fault(
            rows,
            report,
            "fields-drawn-apart" if rows.track.envs == 1 else "envs-mixed",
            first,
            f"{path} of another step",
        )
    else:
        _fault(rows, report, "" if rows.track.envs == 1 else "envs-mixed", first, f"{path} of another step")


def _fault(rows: Rows, report: Report, name: str, row: int, what: str) -> None:
    step = rows.anchor[row]
    report.add(name, f"{what}, on {rows.scene}", "all fields of a row from the same step", _table(rows, row, step))


def _label(reading: Reading, what: str) -> str:
    """A field by its name, or by its place and what it is."""
    path = reading.where.get(what, what)
    return path if named(path) is not None else f"{what} {path}"


def _table(rows: Rows, row: int, step: Step | None) -> Table | None:
    """One row that came back, field by field."""
    if step is None:
        return None
    reading = rows.reading
    by_number = {each.number: each for each in rows.track.all}

    def of(number: int | None) -> str:
        return "?" if number is None or number not in by_number else str(by_number[number])

    lines: list[tuple[str, str, str]] = []
    if reading.obs is not None:
        lines.append((_label(reading, "obs"), said(reading.obs[row]), str(step)))
    if reading.action is not None:
        lines.append((_label(reading, "action"), of(reading.action[row]), str(step)))
    for what, cells in reading.scalars.items():
        lines.append((_label(reading, what), of(cells[row]), str(step)))
    if reading.next_obs is not None:
        lines.append((_label(reading, "next_obs"), said(reading.next_obs[row]), said(step.next_code)))
    for path, flags in reading.flags.items():
        hint = named(path)
        flag = step.terminated if hint == "terminated" else step.truncated if hint == "truncated" else step.done
        flag = (not flag) if hint == "not_done" else flag
        lines.append((f"flag {path}" if hint is None else path, f"{flags[row]:g}", f"{flag:d}"))
    if reading.swapped and reading.obs is not None and reading.next_obs is not None:
        right_of = {_label(reading, "obs"): said(step.next_code), _label(reading, "next_obs"): str(step)}
        lines = [(path, seen, right_of.get(path, right)) for path, seen, right in lines]
    wrong = [number for number, (_, seen, truth) in enumerate(lines) if seen != truth]
    return table(rows.scene, f"cells are {HOW}", ("field", "yours", "right"), lines, wrong)
