"""Which discounted sum the targets of whole episodes are, however they were scaled and moved afterwards.

Returns are often normalised, episode by episode or batch by batch, before anything is learned from them, and rewards
may be the same in every step. Then no recursion with known coefficients is left. But the numbers of a batch are still a
straight line of the returns, with one γ for all batches: the few ways in which a return can be summed up are tried one
after the other, each with its best γ, and only one that fits all batches down to rounding is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_rows import Ints, Steps

_ROWS = 6  # of a batch: fewer fit any line
_ALL = 48  # of all batches
_BATCHES = 3
_MOST = 1500  # rows that are looked at
_EXACT = 1e-3  # rms of what is left, in deviations: it is this sum
_CLEARLY = 0.05  # rms that the right sum leaves, at its best γ
_GRID = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.93, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.998, 0.999, 1.0)


@dataclass(frozen=True)
class Episodic:
    """How the episodes were summed up."""

    name: str  # monte-carlo; forwards, leak: over the ends of episodes
    gamma: float
    rows: int
    audits: int
    ends: int  # ends of episodes with another one after them in the batch
    left: float  # rms, in deviations
    right: float  # the same of the right sum


@dataclass(frozen=True, eq=False)
class _Batch:
    target: Array
    reward: Array  # in the order of time, one lane after the other
    starts: Ints  # places where an episode, or another lane, begins
    lanes: Ints  # those of them at which a lane begins
    audit: int


def episodic(steps: Steps) -> Episodic | None:
    """None where no sum fits, or too little is known."""
    batches = _batches(steps)
    rows = sum(len(each.target) for each in batches)
    audits = len({each.audit for each in batches})
    if len(batches) < _BATCHES or rows < _ALL or audits < 2:
        return None
    right, gamma, up = _best(batches, _to_go)
    ends = sum(len(each.starts) - len(each.lanes) for each in batches)
    if right < _EXACT:  # downhill: a sign that was lost, which is another matter
        return Episodic("monte-carlo", gamma, rows, audits, ends, right, right) if up else None
    other, _, as_well = _best(batches, _to_go_from_the_start)
    if (up and right < _CLEARLY) or (as_well and other < _CLEARLY):
        return None
    wrong: tuple[tuple[str, Callable[[_Batch, float], Array]], ...] = (
        ("forwards", _so_far),
        ("forwards", _so_far_from_the_start),
        ("reversed", _turned),
        ("leak", _past_the_ends),
    )
    for name, way in wrong:
        if name == "leak" and ends < 4:
            continue
        left, gamma, up = _best(batches, way)
        if left < _EXACT and up and gamma < 1.0 - 1e-4:  # with γ = 1 the past is the whole less the future
            return Episodic(name, gamma, rows, audits, ends, left, right)
    return None


def _batches(steps: Steps) -> list[_Batch]:
    """Batches that hold whole episodes and nothing else, each step in its place."""
    found: list[_Batch] = []
    total = 0
    for number in np.unique(steps.batch):
        part = steps.of(int(number))
        good = np.isfinite(part.target).all() and np.isfinite(part.reward).all() and not part.phantom.any()
        order = np.lexsort((part.time, part.lane))
        if not good or len(part) < _ROWS or total > _MOST:
            continue
        lane, first, done = part.lane[order], part.first[order], part.done[order]
        begins = np.append(True, lane[1:] != lane[:-1])
        # Every lane begins with a reset and ends with an end; nothing in between is missing.
        whole = bool(first[begins].all() and done[np.append(begins[1:], True)].all())
        linked = part.after[order][:-1] == order[1:]
        if not whole or not (linked | done[:-1]).all() or not (first[1:] == done[:-1]).all():
            continue
        if float(np.std(part.target)) < 1e-9:
            continue
        starts = np.flatnonzero(first | begins)
        found.append(
            _Batch(
                part.target[order],
                part.reward[order].astype(np.float64),
                starts,
                np.flatnonzero(begins),
                int(part.audit[0]),
            )
        )
        total += len(part)
    return found


def _best(batches: Sequence[_Batch], way: Callable[[_Batch, float], Array]) -> tuple[float, float, bool]:
    """What is left at the best γ, that γ, and whether larger sums are larger targets in all batches."""

    def left(gamma: float) -> float:
        return _left(batches, way, gamma)[0]

    scores = [left(each) for each in _GRID]
    at = int(np.argmin(scores))
    low, high = _GRID[max(at - 1, 0)], _GRID[min(at + 1, len(_GRID) - 1)]
    golden = 0.6180339887
    one, two = high - golden * (high - low), low + golden * (high - low)
    left_one, left_two = left(one), left(two)
    for _ in range(24):
        if left_one < left_two:
            high, two, left_two = two, one, left_one
            one = high - golden * (high - low)
            left_one = left(one)
        else:
            low, one, left_one = one, two, left_two
            two = low + golden * (high - low)
            left_two = left(two)
    gamma = min((left_one, one), (left_two, two), (scores[at], _GRID[at]))[1]
    return (*_left(batches, way, gamma)[:1], gamma, _left(batches, way, gamma)[1])


def _left(batches: Sequence[_Batch], way: Callable[[_Batch, float], Array], gamma: float) -> tuple[float, bool]:
    rest = whole = 0.0
    up = True
    for batch in batches:
        x, y = way(batch, gamma), batch.target
        x, y = x - x.mean(), y - y.mean()
        size = float(x @ x)
        slope = float(x @ y) / size if size > 1e-12 else 0.0
        rest += float(((y - slope * x) ** 2).sum()) / float(y @ y)
        whole += 1.0
        up = up and slope > 0
    return float(np.sqrt(rest / whole)), up


# ── ways to sum up ──────────────────────────────────────────────────────────────────────────────────────────────────


def _backwards(reward: Array, starts: Ints, gamma: float) -> Array:
    sums = np.empty(len(reward))
    begins = set(starts.tolist())
    carried = 0.0
    for place in range(len(reward) - 1, -1, -1):
        carried = float(reward[place]) + gamma * carried
        sums[place] = carried
        if place in begins:
            carried = 0.0
    return sums


def _parts(batch: _Batch) -> list[slice]:
    ends = [*batch.starts[1:].tolist(), len(batch.reward)]
    return [slice(start, end) for start, end in zip(batch.starts.tolist(), ends, strict=True)]


def _since(batch: _Batch) -> Array:
    """How many steps the episode is old."""
    return np.concatenate([np.arange(each.stop - each.start) for each in _parts(batch)]).astype(np.float64)


def _to_go(batch: _Batch, gamma: float) -> Array:
    return _backwards(batch.reward, batch.starts, gamma)


def _to_go_from_the_start(batch: _Batch, gamma: float) -> Array:
    """γ^t G_t: as the theorem has it."""
    return gamma ** _since(batch) * _to_go(batch, gamma)


def _so_far(batch: _Batch, gamma: float) -> Array:
    parts = [_backwards(batch.reward[each][::-1], np.array([0]), gamma)[::-1] for each in _parts(batch)]
    return np.concatenate(parts)


def _so_far_from_the_start(batch: _Batch, gamma: float) -> Array:
    weighted = gamma ** _since(batch) * batch.reward
    return np.concatenate([np.cumsum(weighted[each]) for each in _parts(batch)])


def _turned(batch: _Batch, gamma: float) -> Array:
    sums = _to_go(batch, gamma)
    return np.concatenate([sums[each][::-1] for each in _parts(batch)])


def _past_the_ends(batch: _Batch, gamma: float) -> Array:
    return _backwards(batch.reward, batch.lanes, gamma)
