"""Populations: the inputs a network was given to act, to learn, and to evaluate, over all audits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.forensics.batches import calls_of
from rldebug.forensics.roles import roles_of

_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Population:
    """Inputs of one network and one use. Of wide ones only min, max, mean and spread of each row."""

    module: str
    use: str  # "acting", "evaluation", "learning" (gradients on) or "other"
    first: Event
    wide: bool
    shape: tuple[int, ...]  # of one row
    rows: NDArray[np.float64]
    found: float  # share of rows that are observations, under some way of changing them
    ways: dict[str, int]  # rows by how they were found
    audits: int
    whole: bool  # the input is of whole numbers: tokens, or indices

    @property
    def raw(self) -> float:
        """Share of rows that are observations as the environment handed them out."""
        return self.ways.get("raw", 0) / max(sum(self.ways.values()), 1)

    @property
    def low(self) -> NDArray[np.float64]:
        return np.asarray(np.percentile(self.rows, 1, axis=0))

    @property
    def high(self) -> NDArray[np.float64]:
        return np.asarray(np.percentile(self.rows, 99, axis=0))

    @property
    def range(self) -> NDArray[np.float64]:
        return self.high - self.low


@lru_cache(maxsize=8)
def populations(script: Script) -> tuple[Population, ...]:
    roles = roles_of(script)
    groups: dict[tuple[str, str, int, tuple[int, ...]], _Gathered] = {}
    for call in calls_of(script):
        event = call.event
        array = call.input if call.input is not None else call.stats
        if array is None or event["match"] == "tag" or not event["inputs"] or len(array) != len(call.rows):
            continue
        known = call.known
        use = "learning" if event["grad"] else "other"
        if event.get("acting") and known.any():
            stream = int(call.audit.nodes.stream[call.places[known][0]])
            use = "evaluation" if stream in roles.others else "acting"
        shape = tuple(event["inputs"][0]["shape"][1:])
        if len(event["inputs"][0]["shape"]) == 1:
            shape = tuple(event["inputs"][0]["shape"])  # a single row without an axis for it
        key = (call.module, use, 0 if call.input is None else array.shape[1], shape)
        group = groups.setdefault(key, _Gathered(event))
        group.add(call.audit.number, array, int(known.sum()), str(event["match"]))
    return tuple(
        Population(
            module, use, group.first, not width, shape, np.concatenate(group.arrays),
            group.known / max(group.count, 1), group.ways, len(group.audits), group.whole,
        )
        for (module, use, width, shape), group in groups.items()
        if group.arrays
    )  # fmt: skip


class _Gathered:
    def __init__(self, first: Event) -> None:
        self.first = first
        self.arrays: list[NDArray[np.float64]] = []
        self.count = self.known = self.kept = 0
        self.ways: dict[str, int] = {}
        self.audits: set[int] = set()
        self.whole = "int" in str(first["inputs"][0]["dtype"])

    def add(self, audit: int, array: NDArray[np.float64], known: int, way: str) -> None:
        self.count += len(array)
        self.known += known
        self.ways[way] = self.ways.get(way, 0) + len(array)
        self.audits.add(audit)
        if self.kept < _ROWS and np.isfinite(array).all():
            self.arrays.append(array)
            self.kept += len(array)
