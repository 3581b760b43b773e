"""Runs with detailed readings: a table per reading, and the facts that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rldebug.evidence.run import Reading, Run

NAN = float("nan")
UPDATES = (0, 1, 2, 4, 8, 16, 32, 64, 128)  # when detailed readings are taken
READINGS = len(UPDATES)

Table = Mapping[str, Sequence[float]]


def detailed(
    tables: Sequence[Mapping[str, Table]],
    *,
    updates: Sequence[int] = UPDATES,
    numbers: Mapping[str, Sequence[float]] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Run:
    """One reading per entry of `tables`, at the given updates; `facts` are recorded with every one of them."""
    return Run.of(
        Reading(
            update=updates[i],
            env_step=64 * updates[i],
            seconds=float(i),
            numbers={name: each[i] for name, each in (numbers or {}).items()},
            facts=dict(facts or {}),
            tables=dict(each),
        )
        for i, each in enumerate(tables)
    )


def row(
    grad: float = 0.1,
    *,
    zero_rows: float = NAN,
    step: float = 1e-3,
    norm: float = 8.0,
    mean: float = 0.0,
    std: float = 0.1,
) -> list[float]:
    """Of the table `parameters`. 8 = 0.1 · √6400: the defaults are those of a tensor of 6400 entries."""
    return [grad, grad, zero_rows, step, norm, mean, std]


def moving(names: Sequence[str], readings: int = READINGS, **cells: float) -> list[dict[str, Table]]:
    """A table `parameters` per reading, whose weights change from one to the next."""
    return [{"parameters": {name: row(**{"norm": 8.0 + 0.01 * i, **cells}) for name in names}} for i in range(readings)]


def audit(**more: Any) -> dict[str, Any]:
    """The fact `parameters` of a policy and a critic, each whole in one optimizer."""
    module = {
        "numel": 100,
        "trainable": 100,
        "frozen": [],
        "unowned": [],
        "unowned_numel": 0,
        "unowned_fingerprint": 0.0,
    }
    found = {
        "modules": {
            "policy": {**module, "owners": {"optimizer": 100}},
            "critic": {**module, "owners": {"optimizer": 100}},
        },
        "twice": [],
        "twice_owners": [],
        "shared": 0,
        "foreign": 0,
    }
    return {**found, **more}


def reach(reached: int, of: int = 6, module: str = "critic") -> dict[str, Any]:
    """An entry of the fact `reach`."""
    return {"reached": reached, "of": of, "missing": [f"{module}.{i}" for i in range(of - reached)]}
