"""Inputs: what a network is given for an observation, as a linear map of each of its elements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import Call, calls_of
from rldebug.forensics.roles import roles_of
from rldebug.forensics.worlds import learned_from

_ROWS = 10  # that a map is fitted to
_EXACT = 1e-3  # of the spread of an input element may be left over


@dataclass(frozen=True, eq=False)
class Seen:
    """How the observations of some calls entered a network: input = slope * observation + shift, per element."""

    audit: Audit
    event: Event
    module: str
    use: str  # "acting", "evaluation" or "learning"
    slope: NDArray[np.float64]  # NaN where the observation does not vary, or no straight line fits
    shift: NDArray[np.float64]
    obs_spread: NDArray[np.float64]
    input_spread: NDArray[np.float64]
    related: NDArray[np.float64]  # correlation of each element with its observation, in size; 0 where one stands still
    largest: float  # of the inputs, in size
    rows: int

    @property
    def fitted(self) -> NDArray[np.bool_]:
        return np.isfinite(self.slope)


@lru_cache(maxsize=8)
def inputs_of(script: Script) -> tuple[Seen, ...]:
    """For each audit, network and use one map, where observations are narrow and the input is as wide as they are."""
    # Environments may be made anew for each part of the training: all that is learned from are acted in.
    trained = learned_from(script) | {roles_of(script).stream}
    groups: dict[tuple[int, str, str], list[tuple[Call, NDArray[np.int64]]]] = {}
    shapes = {int(each["index"]): each.get("shape") or () for each in script.streams}
    for call in calls_of(script):
        if call.input is None or call.event["match"] == "tag":
            continue
        nodes, places = call.audit.nodes, call.places
        known = places >= 0
        if not known.any() or nodes.obs.shape[1] != call.input.shape[1] or len(places) != len(call.input):
            continue
        stream = int(nodes.stream[places[known][0]])
        if len(shapes.get(stream, ())) > 1 and not _as_it_came(call):
            continue  # a picture whose axes were moved: elements of the two stand in different places
        own = stream in trained
        use = "learning" if not call.event.get("acting") else "acting" if own else "evaluation"
        groups.setdefault((call.audit.number, call.module, use), []).append((call, places))
    found = []
    for (_, module, use), calls in groups.items():
        seen = _seen(module, use, calls)
        if seen is not None:
            found.append(seen)
    return tuple(found)


def _as_it_came(call: Call) -> bool:
    return call.event["match"] in ("raw", "scaled", "centred")


def _seen(module: str, use: str, calls: list[tuple[Call, NDArray[np.int64]]]) -> Seen | None:
    audit = calls[0][0].audit
    given = np.concatenate([call.input for call, _ in calls if call.input is not None])
    places = np.concatenate([each for _, each in calls])
    obs = np.asarray(audit.nodes.obs, dtype=np.float64)[places]
    keep = (places >= 0) & np.isfinite(obs).all(axis=1) & np.isfinite(given).all(axis=1)
    if keep.sum() < _ROWS:
        return None
    given, obs = given[keep], obs[keep]
    slope, shift = _lines(obs, given)
    return Seen(
        audit, calls[0][0].event, module, use, slope, shift, obs.std(axis=0), given.std(axis=0), _related(obs, given),
        float(np.abs(given).max()), len(given),
    )  # fmt: skip


def _lines(obs: NDArray[np.float64], given: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least squares per element. NaN where the observation stands still, or where the rest is too large."""
    middle, spread = obs.mean(axis=0), obs.std(axis=0)
    moves = spread > 1e-6 * (1 + np.abs(middle))
    safe = np.where(moves, spread, 1.0)
    x = (obs - middle) / safe
    slope = (x * (given - given.mean(axis=0))).mean(axis=0)
    rest = np.sqrt((((given - given.mean(axis=0)) - x * slope) ** 2).mean(axis=0))
    scale = given.std(axis=0)
    fits = moves & (rest <= _EXACT * scale + 1e-6 * (1 + np.abs(given).max(axis=0)))
    line = np.where(fits, slope / safe, np.nan)
    return line, np.where(fits, given.mean(axis=0) - line * middle, np.nan)


def _related(obs: NDArray[np.float64], given: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y = obs - obs.mean(axis=0), given - given.mean(axis=0)
    size = np.sqrt((x * x).sum(axis=0) * (y * y).sum(axis=0))
    return np.asarray(np.abs((x * y).sum(axis=0)) / np.where(size > 1e-12, size, np.inf))
