"""Running statistics worked out anew: by which power of the deviation each element of an observation is divided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.forensics.batches import calls_of
from rldebug.forensics.worlds import training_streams

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_BEFORE = 100  # observations that the statistics are of: until then they depend on how they began
_ROWS = 64
_NEAR = 0.05  # deviations by which a row may be beside what the statistics make of it


@dataclass(frozen=True, eq=False)
class Divided:
    """What was made of the first observations of a program, element by element."""

    event: Event
    rows: int
    deviation: Array  # of the observations
    given: Array  # deviation of what was made of them
    by_variance: Array  # share of the rows that are (x - mean) / variance, of all observations up to then
    by_deviation: Array


def replayed(script: Script) -> Iterator[Divided]:
    """Of networks that act on observations from the first of the program on: statistics of all that was shown."""
    trained = [int(each["index"]) for each in training_streams(script)]
    groups: dict[tuple[int, str, int], list[tuple[Event, Ints, Array]]] = {}
    for call in calls_of(script):
        if call.input is None or call.audit.env_step or call.audit is not script.audits[0] or not len(call.places):
            continue
        if not call.event.get("acting") or call.event["match"] not in ("alias", "none") or (call.places < 0).any():
            continue
        stream = int(call.audit.nodes.stream[call.places[0]])
        if stream in trained and call.audit.nodes.obs.shape[1] == call.input.shape[1]:
            key = (call.audit.number, call.module, stream)
            groups.setdefault(key, []).append((call.event, call.places, call.input))
    for (_, _, stream), calls in groups.items():
        places, inputs = np.concatenate([each for _, each, _ in calls]), np.concatenate([each for _, _, each in calls])
        found = _replayed(script.audits[0], stream, calls[0][0], places, inputs)
        if found is not None:
            yield found


def _replayed(audit: Audit, stream: int, event: Event, places: Ints, inputs: Array) -> Divided | None:
    nodes = audit.nodes
    best: Divided | None = None
    for only_acted in (False, True):  # last observations of episodes may be left out
        chosen = (nodes.stream == stream) & (nodes.acted | (not only_acted))
        seen, mean, variance = _statistics(nodes, chosen, places)
        obs = np.asarray(nodes.obs[places], dtype=np.float64)
        keep = (seen >= _BEFORE) & np.isfinite(obs).all(axis=1) & np.isfinite(inputs).all(axis=1)
        if keep.sum() < _ROWS:
            continue
        x, y, m, v = obs[keep], inputs[keep], mean[keep], variance[keep]
        size = np.sqrt(np.maximum(v, 1e-30))
        clipped = _clipped(y)
        shares = []
        for scale in (v, size):
            near = np.abs(y * scale - (x - m)) <= _NEAR * size
            counted = np.maximum((~clipped).sum(axis=0), 1)
            shares.append((near & ~clipped).sum(axis=0) / counted)
        found = Divided(event, len(x), x.std(axis=0), y.std(axis=0), shares[0], shares[1])
        if best is None or found.by_variance.sum() > best.by_variance.sum():
            best = found
    return best


def _statistics(nodes: Nodes, chosen: NDArray[np.bool_], places: Ints) -> tuple[Ints, Array, Array]:
    """Count, mean and variance of what was shown until the observations at these places came, all of their step."""
    which = np.flatnonzero(chosen & np.isfinite(nodes.obs).all(axis=1))
    order = which[np.argsort(nodes.call[which], kind="stable")]
    values = np.asarray(nodes.obs[order], dtype=np.float64)
    if not len(values):
        nothing = np.zeros((len(places), nodes.obs.shape[1]))
        return np.zeros(len(places), dtype=np.int64), nothing, nothing
    middle = values.mean(axis=0)
    count = np.arange(1, len(values) + 1)[:, None]
    mean = np.cumsum(values - middle, axis=0) / count
    variance = np.maximum(np.cumsum((values - middle) ** 2, axis=0) / count - mean**2, 0.0)
    until = np.searchsorted(nodes.call[order], nodes.call[places], side="right") - 1
    return until + 1, (mean + middle)[np.maximum(until, 0)], variance[np.maximum(until, 0)]


def _clipped(given: Array) -> NDArray[np.bool_]:
    """At a bound that more than one of them reaches."""
    low, high = given.min(), given.max()
    at_low, at_high = given == low, given == high
    none = np.zeros(given.shape, dtype=bool)
    return np.asarray((at_low if at_low.sum() > 1 else none) | (at_high if at_high.sum() > 1 else none))


@dataclass(frozen=True, eq=False)
class Kept:
    """A layer around the environment, of the program's own: what it shows beside the statistics that it keeps."""

    what: str
    stream: int
    shown: Array  # deviation of each element that it shows
    deviation: Array  # by what it keeps


def kept(script: Script) -> Iterator[Kept]:
    """One for each reading of arrays that moved while the program ran: of deviations, variances or sums of squares."""
    notes = [each for note in script.noted("normalisers") for each in note.get("own") or ()]
    mine: dict[tuple[int, str, str], list[dict[str, dict[str, object]]]] = {}
    for each in notes:
        mine.setdefault((int(each["stream"]), str(each["what"]), str(each["path"])), []).append(each)
    trained = [int(each["index"]) for each in training_streams(script)]
    for (stream, what, _), looks in mine.items():
        shown = _shown(script, stream) if stream in trained and len(looks) > 1 else None
        if shown is None:
            continue
        first, last = looks[0], looks[-1]
        for name, array in last["arrays"].items():
            value = np.asarray(array, dtype=np.float64)
            before = np.asarray(first["arrays"].get(name, array), dtype=np.float64)
            if len(value) != len(shown) or not (value > 0).all() or (value == before).any():
                continue
            yield Kept(what, stream, shown, value)
            yield Kept(what, stream, shown, np.sqrt(value))
            for count in last["counts"].values():
                yield Kept(what, stream, shown, np.sqrt(value / float(str(count))))


def _shown(script: Script, stream: int) -> Array | None:
    """Over the later half of what was recorded of it: statistics have settled by then."""
    rows = []
    for audit in script.audits[len(script.audits) // 2 :]:
        nodes = audit.nodes
        if nodes.obs.shape[1]:
            rows.append(np.asarray(nodes.obs[(nodes.stream == stream) & ~nodes.phantom], dtype=np.float64))
    obs = np.concatenate(rows) if len({each.shape[1] for each in rows}) == 1 else np.empty((0, 0))
    obs = obs[np.isfinite(obs).all(axis=1)]
    return obs.std(axis=0) if len(obs) >= _ROWS else None
