"""Where two runs part: the first update at which a reading differs, and which of those comes first in the data flow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rldebug.evidence.folder import title_of
from rldebug.evidence.run import Reading, Run, RunError

STAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("environment", ("env_step", "env", "episode")),
    ("rollout", ("obs", "action", "reward", "rollout", "exploration", "replay")),
    ("values", ("layers", "value", "target", "advantage", "policy")),
    ("batch", ("batch",)),
    ("loss", ("loss",)),
    ("gradient", ("grad", "noise")),
    ("weights", ("optimizer", "step", "weight", "target_net")),
)
"""What feeds what within one update. Readings that part at the same update are named in this order."""

OTHER = "yours"  # families that are on no stage: metrics of the user's own
_CLOCK = ("pace", "host", "gpu")  # never the same twice, and no sign of anything
_IGNORED = ("name", "started", "pid", "state", "seconds", "updates", "steps", "env_steps", "error", "broken", "format")
_NEAR_ZERO = 0.01  # readings smaller than this are compared by their difference, not by their ratio


@dataclass(frozen=True)
class Difference:
    """One reading in both runs; None where a run did not take it."""

    name: str
    stage: str
    a: float | None
    b: float | None


@dataclass(frozen=True)
class Parting:
    """The first update at which the runs differ, and all that differs there, in the order of the data flow."""

    update: int
    env_step: int
    differences: tuple[Difference, ...]
    rows: tuple[str, ...] = ()  # parameters and layers that differ, where their tables were recorded at this update

    @property
    def small(self) -> bool:
        """Whether all that differs differs by what rounding can do."""
        return all(
            each.a is not None and each.b is not None and _same(each.a, each.b, 1e-4) for each in self.differences
        )


@dataclass(frozen=True)
class Comparison:
    names: tuple[str, str]
    common: int  # updates recorded in both
    last: int  # the last of them
    metrics: int  # readings compared
    parting: Parting | None
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # readings that only one of them ever took
    settings: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    tolerance: float = 0.0


def compare(a: Run, b: Run, tolerance: float = 0.0) -> Comparison:
    """Compare two runs on the updates that both recorded. Clocks and machines are left out."""
    lines_a = {each.update: each for each in a.readings}
    lines_b = {each.update: each for each in b.readings}
    common = sorted(lines_a.keys() & lines_b.keys())
    if not common:
        raise RunError(f"{title_of(a)} and {title_of(b)} have no recorded update in common: nothing to compare")
    names_a, names_b = ({name for line in run.readings for name in _numbers(line)} for run in (a, b))
    shared = names_a & names_b
    parting = None
    for update in common:
        differences = tuple(_differences(lines_a[update], lines_b[update], shared, tolerance))
        if differences:
            rows = tuple(_rows(lines_a[update], lines_b[update], tolerance))
            parting = Parting(update, lines_a[update].env_step, differences, rows)
            break
    return Comparison(
        names=(title_of(a), title_of(b)),
        common=len(common),
        last=common[-1],
        metrics=len(shared),
        parting=parting,
        only=(tuple(sorted(names_a - names_b)), tuple(sorted(names_b - names_a))),
        settings=_settings(a.meta, b.meta),
        tolerance=tolerance,
    )


def stage_of(name: str) -> str:
    return next((stage for stage, families in STAGES if _family(name) in families), OTHER)


def _differences(a: Reading, b: Reading, shared: set[str], tolerance: float) -> Iterator[Difference]:
    ours, theirs = _numbers(a), _numbers(b)
    families = [each for _, stage in STAGES for each in stage]
    order = {family: place for place, family in enumerate(families)}
    parted = [
        name
        for name in shared & (ours.keys() | theirs.keys())
        if name not in ours or name not in theirs or not _same(ours[name], theirs[name], tolerance)
    ]
    for name in sorted(parted, key=lambda each: (order.get(_family(each), len(order)), each)):
        yield Difference(name, stage_of(name), ours.get(name), theirs.get(name))


def _family(name: str) -> str:
    return name.partition("/")[0].partition("@")[0]


def _numbers(line: Reading) -> dict[str, float]:
    kept = {name: value for name, value in line.numbers.items() if name.partition("/")[0] not in _CLOCK}
    return {"env_step": float(line.env_step), **kept}


def _rows(a: Reading, b: Reading, tolerance: float) -> Iterator[str]:
    for name in a.tables.keys() & b.tables.keys():
        ours, theirs = a.tables[name], b.tables[name]
        for row in ours:
            cells = theirs.get(row)
            if cells is not None and not all(_same(x, y, tolerance) for x, y in zip(ours[row], cells, strict=False)):
                yield row


def _same(a: float, b: float, tolerance: float) -> bool:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True
    return abs(a - b) <= tolerance * max(abs(a), abs(b), _NEAR_ZERO)


def _settings(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    ours, theirs = _flat(a), _flat(b)
    return {
        key: (ours.get(key), theirs.get(key))
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key) != theirs.get(key) and key.partition(".")[0] not in _IGNORED
    }


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = " ".join(map(str, value)) if isinstance(value, list) else value
    return flat
