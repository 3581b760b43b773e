"""Observations that reach the first layer all shifted and divided by the same two numbers.

What a network is given while it acts stands beside the observation. Of what a layer is given in a loss the smallest and
the largest number, the mean and the deviation are kept. Beside the observations in the same rows two of the four say
what the two numbers are, and the others that all elements share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import Call, calls_of

Array = NDArray[np.float64]

_EXACT = 1e-3  # of a deviation
_ROWS = 8


@dataclass(frozen=True, eq=False)
class Shifted:
    """Over all losses in which it could be told."""

    first: Event
    times: int
    where: str  # "losses", "actions"
    shift: float
    scale: float
    mean: float  # of all elements of the observations that were learned from, together
    deviation: float
    rows: int  # different ones


def one_shift(script: Script) -> Shifted | None:
    """None where elements are treated each in its own way, and where too little is known."""
    raw: dict[int, list[Call]] = {}
    for call in calls_of(script):
        if call.input is not None and call.event["grad"] and call.event["match"] == "raw" and not call.more:
            raw.setdefault(call.audit.number, []).append(call)
    found: list[tuple[float, float, Event]] = []
    learned: dict[int, Array] = {}
    for audit in script.audits:
        for term in audit.of("term"):
            given, ids, shape = term.arrays.get("first_input"), term.arrays.get("rows"), term.get("first_input_shape")
            if given is None or ids is None or not shape or len(shape) != 2 or len(ids) < _ROWS or shape[0] != len(ids):
                continue
            obs = _observed(audit, term, ids, raw.get(audit.number, []))
            if obs is None or obs.shape[1] != shape[1] or not np.isfinite(obs).all():
                continue
            told = _told(obs, np.asarray(given, dtype=np.float64))
            if told is None:
                return None
            found.append((*told, term))
            learned |= dict(zip(ids.tolist(), obs, strict=True))
    if not found:
        return None
    shifts, scales = np.array([each[0] for each in found]), np.array([each[1] for each in found])
    scale, shift = float(np.median(scales)), float(np.median(shifts))
    if np.abs(scales - scale).max() > 0.01 * scale or np.abs(shifts - shift).max() > 0.01 * scale:
        return None
    known = np.array(list(learned.values()))
    return Shifted(found[0][2], len(found), "losses", shift, scale, float(known.mean()), float(known.std()), len(known))


def acted_shift(script: Script) -> Iterator[Shifted]:
    """The same of what the network is given while it acts, beside the moments of all that environments handed out."""
    seen: list[Array] = []
    given: list[Array] = []
    first: Event | None = None
    for call in calls_of(script):
        if not call.event.get("acting") or call.input is None or call.more or not (call.places >= 0).all():
            continue
        obs = np.asarray(call.audit.nodes.obs[call.places], dtype=np.float64)
        if obs.shape == call.input.shape and np.isfinite(obs).all():
            seen.append(obs)
            given.append(np.asarray(call.input))
            first = first or call.event
    if first is None:
        return
    x, y = np.concatenate(seen).ravel(), np.concatenate(given).ravel()
    if not x.std() > 0 or not y.std() > 0:
        return
    factor, added = np.polyfit(x, y, 1)
    if factor <= 0 or np.abs(y - factor * x - added).max() > _EXACT:
        return
    for stream in script.streams:
        told = stream.get("obs") or {}
        means, spreads = (np.array(told.get(name) or [], dtype=np.float64) for name in ("mean", "std"))
        if len(means) and len(means) == len(spreads) == seen[0].shape[1]:
            mean = float(means.mean())
            spread = float(np.sqrt((spreads**2 + means**2).mean() - mean**2))
            rows = int(stream["steps"])
            yield Shifted(first, len(seen), "actions", float(-added / factor), float(1 / factor), mean, spread, rows)


def _observed(audit: Audit, term: Event, ids: NDArray[np.int64], raw: list[Call]) -> Array | None:
    """The observations in the rows of a term: as its network was given them, or as they are remembered."""
    before = [each for each in raw if each.order < term.order and np.array_equal(each.rows, ids)]
    if before:
        return before[-1].input
    places = audit.nodes.index(ids)
    return None if (places < 0).any() else np.asarray(audit.nodes.obs[places], dtype=np.float64)


def _told(obs: Array, given: Array) -> tuple[float, float] | None:
    low, high = float(obs.min()), float(obs.max())
    if given[1] <= given[0] or high <= low:
        return None
    scale = (high - low) / float(given[1] - given[0])
    shift = low - float(given[0]) * scale
    middle, wide = (obs.mean() - shift) / scale, obs.std(ddof=1) / scale
    return (shift, scale) if abs(middle - given[2]) <= _EXACT and abs(wide - given[3]) <= _EXACT else None
