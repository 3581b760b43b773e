"""From recorded steps to figures: scales, histograms, what can be told from an observation and what cannot."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rldebug.evidence.env_play import Element, Foretold, Play, Rewards
from rldebug.probes.flat import Flat, Row

_MANY = 1000  # different values: enough to call a number continuous
_NEIGHBOURS = 5
_COMPARED = 1500  # rows on each side when neighbours are sought
_BARS = 24
_NARROW = 12  # elements up to which failing to tell the reward means something


@dataclass
class Tape:
    """Steps of one player, one entry of each list per step."""

    before: list[Row] = field(default_factory=list)
    after: list[Row] = field(default_factory=list)
    actions: list[Row] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    time: list[int] = field(default_factory=list)
    episode: list[int] = field(default_factory=list)
    terminated: list[bool] = field(default_factory=list)
    changed: list[bool] = field(default_factory=list)


def rewards_of(rewards: Row, final: Row) -> Rewards:
    """`final` marks the steps that ended an episode."""
    if not len(rewards) or not np.isfinite(rewards).all():
        return Rewards()
    size = np.abs(rewards)
    inside = rewards[~final]
    largest = inside[np.argsort(-np.abs(inside))[:20]]
    spread = rewards.min() < rewards.max()
    return Rewards(
        steps=len(rewards),
        distinct=min(_MANY, len(np.unique(rewards))),
        low=float(rewards.min()),
        high=float(rewards.max()),
        rms=float(np.sqrt(np.mean(rewards**2))),
        zeros=int(np.sum(rewards == 0)),
        middle=float(np.median(size[size > 0])) if size.any() else math.nan,
        largest=tuple(largest.tolist()),
        counts=tuple(np.histogram(rewards, _BARS)[0].tolist()) if spread else (len(rewards),),
    )


def elements_of(rows: Row, flat: Flat) -> tuple[Element, ...]:
    found: list[Element] = []
    earlier: dict[tuple[int, bytes], str] = {}
    for column, named in zip(rows.T, flat.names, strict=True):
        if named.kind != "number" or not np.isfinite(column).all():
            continue
        alike = (named.leaf, np.ascontiguousarray(column).tobytes())
        twin = earlier.setdefault(alike, named.where)
        found.append(
            Element(
                where=named.where,
                low=float(column.min()),
                high=float(column.max()),
                mean=float(column.mean()),
                std=float(column.std()),
                distinct=min(_MANY, len(np.unique(column))),
                twin="" if twin == named.where else twin,
            )
        )
    return tuple(found)


def time_told(tapes: Sequence[Tape]) -> float:
    """R² of the time since reset from the observation, on episodes that were not used for the fit."""
    rows, time, group = _joined(tapes, "before"), _joined(tapes, "time"), _episodes(tapes)
    if len(rows) < 100 or len(np.unique(group)) < 6 or time.max() < 2 or not np.isfinite(rows).all():
        return math.nan
    return _told(rows, time.astype(float), group % 2 == 0)


def reward_told(tapes: Sequence[Tape]) -> float:
    """R² of the reward from observation, action and next observation; NaN where failing would mean nothing."""
    rewards, before, after = (_joined(tapes, each) for each in ("rewards", "before", "after"))
    if len(rewards) < 1000 or before.shape[1] > _NARROW or not np.isfinite(rewards).all():
        return math.nan
    if Counter(rewards.tolist()).most_common(1)[0][1] > 0.9 * len(rewards):
        return math.nan  # too rare to fit
    ends = _joined(tapes, "terminated").astype(float)[:, None]
    actions = _joined(tapes, "actions")
    if actions.ndim != 2 or actions.shape[1] > _NARROW:
        return math.nan
    inputs = np.hstack([before, after, after - before, actions, ends])
    if not np.isfinite(inputs).all():
        return math.nan
    products = (actions[:, :, None] * (after - before)[:, None, :]).reshape(len(actions), -1)
    return _told(np.hstack([inputs, products]), rewards, np.arange(len(rewards)) % 2 == 0)


def foretold(tapes: Sequence[Tape], flat: Flat, untouched: Row | None, discrete: bool) -> tuple[Foretold, ...]:
    """Elements, or differences of two, to which the coming reward is proportional, with a factor for each action."""
    rows, rewards, actions = (_joined(tapes, each) for each in ("before", "rewards", "actions"))
    if len(rewards) < 200 or flat.kept is not None or actions.ndim != 2 or actions.shape[1] != 1:
        return ()
    if len(np.unique(rewards)) < 20 or not (np.isfinite(rows).all() and np.isfinite(rewards).all()):
        return ()
    numbers = [place for place, named in enumerate(flat.names) if named.kind == "number"]
    pairs: list[tuple[str, tuple[int, ...], Row]] = [(flat.names[i].where, (i,), rows[:, i]) for i in numbers[:64]]
    if len(numbers) <= 16:
        for i in numbers:
            for j in numbers[: numbers.index(i)]:
                name = f"{flat.names[i].where} − {flat.names[j].where}"
                pairs.append((name, (i, j), rows[:, i] - rows[:, j]))
    scale = np.abs(rewards).max()
    found = []
    for name, places, column in pairs:
        distinct = len(np.unique(column))
        if distinct < 20:
            continue
        keys = actions[:, 0] if discrete else np.zeros(len(actions))
        given = column if discrete else column * actions[:, 0]
        ratios, held = [], 0
        for key in np.unique(keys):
            chosen = keys == key
            x, y = given[chosen], rewards[chosen]
            ratio = float(x @ y / (x @ x)) if x.any() else 0.0
            held += int(np.sum(np.abs(y - ratio * x) <= 1e-5 * scale))
            ratios.append((f"{key:g}" if discrete else "× action", ratio))
        if held < 0.99 * len(rewards) or not any(abs(ratio) > 1e-9 for _, ratio in ratios):
            continue
        outside = untouched is not None and bool(untouched[list(places)].all())
        # Only a series moves on like this: what stands here now stands elsewhere in the observation one step later.
        inner = np.diff(np.array(_joined(tapes, "time"))) == 1
        later = rows[1:][inner]
        series = any(np.array_equal(rows[:-1][inner][:, i], later[:, j]) for i in places for j in numbers if j != i)
        found.append(
            Foretold(name, tuple(ratios), held / len(rewards), len(rewards), min(_MANY, distinct), outside and series)
        )
    return tuple(found)


def unseen_of(tapes: Sequence[Tape], flat: Flat) -> float:
    """The share of steps whose observation and action were met only once: Good and Turing's estimate of what is new."""
    if flat.kept is not None:
        return math.nan
    rows, actions = _joined(tapes, "before"), _joined(tapes, "actions")
    if not len(rows):
        return math.nan
    met = Counter(row.tobytes() + action.tobytes() for row, action in zip(rows, actions, strict=True))
    return sum(1 for times in met.values() if times == 1) / len(rows)


def alike_of(plays: Sequence[Play], seed: int = 0, resamples: int = 1000) -> float:
    """p-value of a permutation test on ranks: could the returns of all players come from one distribution?"""
    groups = [np.array(each.returns) for each in plays if each.episodes >= 5]
    if len(groups) < 3:
        return math.nan
    values = np.concatenate(groups)
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places.ravel()]  # ties share their rank
    borders = np.cumsum([0, *(len(each) for each in groups)])[:-1]
    sizes = np.array([len(each) for each in groups])

    def between(order: Row) -> Row:
        sums = np.add.reduceat(order, borders, axis=-1)
        return np.asarray((sums**2 / sizes).sum(axis=-1))

    generator = np.random.default_rng(seed)
    shuffled = generator.permuted(np.broadcast_to(ranks, (resamples, len(ranks))), axis=1)
    return float((1 + np.sum(between(shuffled) >= between(ranks) * (1 - 1e-12))) / (resamples + 1))


def rows_of(tapes: Sequence[Tape]) -> Row:
    return _joined(tapes, "after")


def _joined(tapes: Sequence[Tape], what: str) -> Row:
    return np.array([each for tape in tapes for each in getattr(tape, what)])


def _episodes(tapes: Sequence[Tape]) -> Row:
    """One number per episode, over all tapes."""
    found: list[Any] = []
    for tape in tapes:
        first = found[-1] + 1 if found else 0
        found += [first + each for each in tape.episode]
    return np.array(found, int)


def _told(inputs: Row, wanted: Row, fit: Row) -> float:
    """The best R² of three simple models on the rows that were not fitted: linear, one input in bins, neighbours."""
    if wanted[~fit].std() == 0 or fit.all() or not fit.any():
        return math.nan
    centre, scale = inputs[fit].mean(0), inputs[fit].std(0)
    inputs = ((inputs - centre) / np.where(scale > 0, scale, 1)).clip(-10, 10)[:, scale > 0]
    if not inputs.shape[1]:
        return 0.0
    x, y, x_test, y_test = inputs[fit], wanted[fit], inputs[~fit], wanted[~fit]
    guesses = [_linear(x, y, x_test), _neighbours(x, y, x_test)]
    guesses += [_binned(x[:, place], y, x_test[:, place]) for place in range(min(64, x.shape[1]))]
    misses = min(float(np.mean((y_test - guess) ** 2) / y_test.var()) for guess in guesses)
    return max(0.0, 1 - misses)


def _linear(x: Row, y: Row, x_test: Row) -> Row:
    penalty = 1e-3 * len(x) * np.eye(x.shape[1])
    weights = np.linalg.solve(x.T @ x + penalty, x.T @ (y - y.mean()))
    return np.asarray(x_test @ weights + y.mean())


def _neighbours(x: Row, y: Row, x_test: Row) -> Row:
    if len(x) > _COMPARED:
        chosen = np.random.default_rng(0).choice(len(x), _COMPARED, replace=False)
        x, y = x[chosen], y[chosen]
    guesses = []
    for part in np.array_split(x_test, max(1, len(x_test) // 256)):
        far = (part**2).sum(1)[:, None] - 2 * part @ x.T + (x**2).sum(1)
        near = np.argpartition(far, min(_NEIGHBOURS, len(x) - 1), axis=1)[:, :_NEIGHBOURS]
        guesses.append(y[near].mean(1))
    return np.concatenate(guesses)


def _binned(x: Row, y: Row, x_test: Row) -> Row:
    values = np.unique(x)
    edges = (values[1:] + values[:-1]) / 2 if len(values) <= 50 else np.quantile(x, np.linspace(0, 1, 26)[1:-1])
    place, place_test = np.searchsorted(edges, x), np.searchsorted(edges, x_test)
    sums, counts = np.bincount(place, y, len(edges) + 1), np.bincount(place, minlength=len(edges) + 1)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), y.mean())[place_test])
