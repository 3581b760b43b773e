"""The transition audit: observations, actions and rewards that say which environment, episode and step they are of.

What a buffer gives back can so be held against what it was given, row by row and field by field, whatever its fields
are called. Nothing here is a matter of tolerance: a field of a row is that of the step, or of another one, which can be
named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.verification import Table, Verification
from rldebug.oracles.oracle import Mistake

Code = tuple[int, int, int]  # environment, episode, step
MOST = 88  # steps a track may have: actions must be numbers below 128, all different

_ENDINGS = (
    ((3, "terminated"), (2, "truncated"), (2, "terminated"), (3, "truncated"), (1, "terminated"), (4, "truncated")),
    ((2, "truncated"), (3, "terminated"), (1, "truncated"), (4, "terminated"), (2, "terminated"), (3, "truncated")),
    ((4, "terminated"), (1, "truncated"), (3, "truncated"), (2, "terminated")),
)


@dataclass(frozen=True)
class Step:
    """One transition of one environment. `number` is unique over all; `time` is the call of add it belongs to."""

    number: int
    env: int
    time: int
    episode: int
    step: int
    terminated: bool
    truncated: bool

    @property
    def done(self) -> bool:
        return self.terminated or self.truncated

    @property
    def code(self) -> Code:
        return self.env, self.episode, self.step

    @property
    def next_code(self) -> Code:
        """Of the observation the step led to; at an end, the last one of its episode."""
        return self.env, self.episode, self.step + 1

    @property
    def reset_code(self) -> Code:
        """Of the observation that a vector environment with autoreset shows after the step."""
        return (self.env, self.episode + 1, 0) if self.done else self.next_code

    def __str__(self) -> str:
        return said(self.code)


def said(code: Code | None) -> str:
    return "?" if code is None else f"{code[0]}/{code[1]}/{code[2]}"


@dataclass(frozen=True)
class Track:
    """The steps of `envs` environments that go side by side, `length` of each."""

    envs: int
    length: int
    endings: bool = True

    @property
    def steps(self) -> list[list[Step]]:
        """By time, then by environment."""
        columns = [_column(env, self.envs, self.length, self.endings) for env in range(self.envs)]
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def all(self) -> list[Step]:
        return [step for row in self.steps for step in row]


def _column(env: int, envs: int, length: int, endings: bool) -> list[Step]:
    plan = _ENDINGS[env % len(_ENDINGS)]
    steps: list[Step] = []
    episode = at = 0
    for time in range(length):
        lasts, how = plan[episode % len(plan)]
        ends = endings and at + 1 == lasts
        number = 1 + time * envs + env
        steps.append(Step(number, env, time, episode, at, ends and how == "terminated", ends and how == "truncated"))
        episode, at = (episode + 1, 0) if ends else (episode, at + 1)
    return steps


@dataclass(frozen=True)
class Form:
    """How steps are handed over."""

    container: str = "numpy"  # numpy, torch; mixed: numpy, but tensors for what a network gives
    batched: bool = False  # a leading axis of environments, even where there is one
    actions: str = "box"  # box: two numbers in −1 … 1; discrete: a whole number
    shape: tuple[int, ...] = (3,)
    column: bool = False  # numbers as (envs, 1)
    pixels: bool = False  # observations are whole numbers, uint8
    flat_dims: bool | None = None  # sizes as a number, or as a shape; None: as the argument's name says

    def said(self) -> tuple[str, ...]:
        return (
            {"torch": "torch tensors", "mixed": "numpy arrays, and tensors for what a network gives"}.get(
                self.container, "numpy arrays"
            ),
            "with a leading axis of environments" if self.batched else "one transition at a time",
            "two-dimensional actions" if self.actions == "box" else "whole-number actions",
            *(("pictures, uint8",) if self.pixels else ()),
        )


_PLACES = np.array([1.25, 1.5, 1.125])  # fractions show where a number was cut off, and 1 … that it is no empty row
SCALARS = {
    "reward": (0.0, 0.25),
    "value": (1000.0, 0.5),
    "logp": (-2000.0, 0.75),
    "advantage": (2000.0, 0.125),
    "return": (3000.0, 0.875),
}


def observation(code: Code, form: Form) -> NDArray[Any]:
    values = np.array(code) + (1 if form.pixels else _PLACES)
    return np.resize(values, form.shape).astype(np.uint8 if form.pixels else np.float32)


def action(number: int, form: Form) -> Any:
    if form.actions == "box":
        return np.array([number / 128, -number / 256], dtype=np.float32)
    return discrete(number)


def discrete(number: int) -> int:
    return 38 + number * 29 % 89


_BY_ACTION = {discrete(number): number for number in range(1, MOST + 1)}


def scalar(role: str, number: int) -> float:
    base, fraction = SCALARS[role]
    return base + number + fraction


def scalar_number(role: str, value: float) -> int | None:
    """The step whose reward (value, …) this is."""
    base, fraction = SCALARS[role]
    number = value - base - fraction
    near = round(number)
    return int(near) if abs(number - near) < 2e-3 and 1 <= near <= MOST else None


def action_number(row: NDArray[Any], form: Form) -> int | None:
    if form.actions == "box":
        if row.size != 2:
            return None
        number = float(row[0]) * 128
        near = round(number)
        fits = abs(number - near) < 2e-2 and abs(float(row[1]) + near / 256) < 1e-3 and 1 <= near <= MOST
        return int(near) if fits else None
    if row.size > 1:
        hot = np.flatnonzero(row)
        return _BY_ACTION.get(int(hot[0])) if len(hot) == 1 and row[hot[0]] == 1 else None
    value = float(row[0])
    return _BY_ACTION.get(int(value)) if value == int(value) else None


def code_of(row: NDArray[Any], form: Form) -> Code | None:
    """Of an observation, where it is one; rows of zeros and garbage have none."""
    if row.size != int(np.prod(form.shape)):
        return None
    flat = row.astype(np.float64)
    values = flat[:3] - (1 if form.pixels else _PLACES)
    near = np.round(values)
    if np.any(np.abs(values - near) > 2e-3) or np.any(near < 0) or np.any(near > MOST):
        return None
    if not np.allclose(flat, np.resize(flat[:3], flat.shape), atol=2e-3):
        return None
    return int(near[0]), int(near[1]), int(near[2])


def cut_code_of(row: NDArray[Any], form: Form) -> Code | None:
    """Of an observation whose fractions were cut off."""
    if row.size != int(np.prod(form.shape)) or form.pixels:
        return None
    values = row.astype(np.float64)[:3]
    if np.any(values != np.round(values)) or np.any(values < 1) or np.any(values > MOST):
        return None
    return int(values[0]) - 1, int(values[1]) - 1, int(values[2]) - 1


@dataclass(frozen=True)
class Fault:
    """One thing that is provably wrong. `name` is the mistake without its component; "" where none is known."""

    name: str
    seen: str
    expected: str
    table: Table | None = None


@dataclass
class Report:
    """What an audit found out under one form."""

    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    convention: tuple[str, ...] = ()
    scenes: int = 0
    stuck: str = ""  # why it could not be driven
    final: bool = False  # another form would not change that

    def add(self, name: str, seen: str, expected: str, table: Table | None = None) -> None:
        if name not in [fault.name for fault in self.faults]:
            self.faults.append(Fault(name, seen, expected, table))

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def conclude(component: str, report: Report, mistakes: Sequence[Mistake]) -> Verification:
    known = {mistake.name for mistake in mistakes}
    common: dict[str, Any] = {
        "oracle": component,
        "target": "",
        "mapping": report.mapping,
        "convention": report.convention,
        "cases": report.scenes,
        "notes": tuple(report.notes),
    }
    if report.stuck:
        return Verification(outcome="unusable", reason=report.stuck, **common)
    if not report.faults:
        return Verification(outcome="right", **common)
    named = [fault for fault in report.faults if f"{component}-{fault.name}" in known]
    first = (named or report.faults)[0]
    return Verification(
        outcome="wrong",
        matched=tuple(f"{component}-{fault.name}" for fault in named),
        message="what comes out is not what went in",
        seen=first.seen,
        expected=first.expected,
        table=first.table,
        **common,
    )


def best(reports: Sequence[Report]) -> Report:
    """The first that is clean; else that of the likeliest form which could be driven."""
    driven = [report for report in reports if not report.stuck]
    clean = [report for report in driven if not report.faults]
    if clean:
        return clean[0]
    if driven:
        return min(driven, key=lambda report: (len(report.faults), "" in [fault.name for fault in report.faults]))
    further = [report for report in reports if not report.stuck.startswith(("add raised", "make raised"))]
    return (further or list(reports))[0]


def table(
    case: str, numbers: str, columns: Sequence[str], rows: Sequence[Sequence[str]], wrong: Sequence[int]
) -> Table:
    return Table(case, numbers, tuple(columns), tuple(tuple(row) for row in rows), tuple(wrong))


Given = Mapping[str, str]
