"""Formulas of targets whose rows cannot be traced to steps: goals were exchanged, statistics have moved since.

Where the environment pays only a few different rewards, a target gives itself away: T - γ f is one of them in every row
that goes on, and T itself is where the episode ended. That needs no row to be known, only the calls of the update.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_next import Said, bootstraps, said_before
from rldebug.forensics.target_rows import Flags, Ints
from rldebug.forensics.target_twins import World

_REWARDS = 5  # different ones
_STEPS = 40  # of the environment, that the rewards are known from
_ENDS = 5  # that had been seen, before rows without any say something
_ROWS = 96
_GOOD = 0.97
_TERMS = 24
_LOW, _HIGH = 0.3, 1.02  # of γ


@dataclass(frozen=True, eq=False)
class Free:
    name: str
    gamma: float
    share: float
    rows: int
    audits: int
    reward: Array  # of each row; NaN where it is not explained
    added: Flags  # the bootstrap is in the target, and can be told
    masked: Flags  # the target is a reward alone, and that can be told
    audit: Array
    ends: dict[float, float]  # how often a reward is that of a terminated step
    often: float  # how often steps had terminated by then
    capped: Flags  # of `masked`, those that a bound on the targets would make so as well


def free_formula(world: World, terms: Sequence[tuple[Audit, Event]]) -> Free | None:
    rewards = world.reward[world.usable]
    values, counts = np.unique(np.round(rewards, 6), return_counts=True)
    if len(rewards) < _STEPS or not 1 <= len(values) <= _REWARDS or counts.min() < 1:
        return None
    batches = [each for audit, term in terms[:_TERMS] if (each := asked_batch(audit, term)) is not None]
    names = Counter(name for _, f, _ in batches for name in f)
    kept = [name for name, count in names.items() if count >= 0.6 * len(batches)]
    if not batches:
        return None
    target = np.concatenate([each for each, _, _ in batches])
    audit = np.concatenate([np.full(len(each), number) for each, _, number in batches])
    often = _often(world, {each.number: each for each, _ in terms[:_TERMS]}, audit)
    if len(target) < _ROWS or len(np.unique(audit)) < 2:
        return None
    tol = max(3e-6 * float(np.abs(target).max()), 1e-6)
    done = world.terminated[world.usable]
    usual = float(values[int(np.argmax(counts))])
    ends = {}
    for each in values:
        paid = np.abs(rewards - each) < 1e-5
        ends[float(each)] = float(done[paid].mean()) if paid.sum() >= 3 else 0.5  # too few to tell
    best: Free | None = None
    for name in kept:
        f = np.concatenate([own.get(name, np.full(len(each), np.nan)) for each, own, _ in batches])
        found = _fit(name, target, f, values, audit, tol, ends, often)
        if found is not None and not (np.abs(found.reward - usual) <= 1e-5).any():
            continue  # what most steps are paid is in no target: rewards are scaled, and look like others
        if found is not None and (best is None or _better(found, best)):
            best = found
    return best


def _often(world: World, audits: Mapping[int, Audit], audit: Array) -> float:
    """How many of the rows would be ends if they were drawn from all steps until then: a share of all rows. An agent
    that has learned reaches ends that nobody had seen when the first batches were drawn."""
    until: dict[int, float] = {}
    for number, each in audits.items():
        past = world.usable & (world.id <= each.nodes.id.max(initial=-1))
        ended = int(world.terminated[past].sum())
        until[number] = ended / int(past.sum()) if ended >= _ENDS else 0.0
    return float(np.mean([until[int(each)] for each in audit]))


def _better(new: Free, old: Free) -> bool:
    more = int((np.isfinite(new.reward) & ~np.isfinite(old.reward)).sum())
    less = int((np.isfinite(old.reward) & ~np.isfinite(new.reward)).sum())
    return more >= 8 and more >= 9 * less


def asked_batch(audit: Audit, term: Event) -> tuple[Array, dict[str, Array], int] | None:
    """The targets of a regression, and what they may be bootstrapped from."""
    numbers, index, prediction = (term.arrays.get(each) for each in ("target", "index", "prediction"))
    if numbers is None or np.size(numbers) < 8 or (index is not None and np.size(numbers) != np.size(index)):
        return None
    target = np.ravel(numbers).astype(np.float64)
    discrete = index is not None
    asked = [one for one in said_before(audit, term) if len(one.rows) == len(target) and np.isfinite(one.output).all()]
    if discrete:
        asked = [one for one in asked if one.output.shape[1] > 1]
    if prediction is not None and np.size(prediction) == len(target):
        taken = np.ravel(index).astype(np.int64) if index is not None else np.zeros(len(target), dtype=np.int64)
        # Not the call that the prediction is read from.
        asked = [each for each in asked if not _is(each, taken, np.ravel(prediction))]
    return (target, bootstraps(asked, discrete, ""), audit.number) if asked else None


def _is(said: Said, taken: Ints, prediction: Array) -> bool:
    if taken.min() < 0 or taken.max() >= said.output.shape[1]:
        return False
    return bool(np.allclose(said.output[np.arange(len(taken)), taken], prediction, 1e-4, 1e-6))


def _fit(
    name: str,
    target: Array,
    f: Array,
    values: Array,
    audit: Array,
    tol: float,
    ends: dict[float, float],
    often: float,
) -> Free | None:
    known = np.isfinite(f)
    told = known & (np.abs(f) > 200 * tol)
    if told.sum() < _ROWS or float(np.std(f[told])) < 100 * tol:
        return None
    some = np.flatnonzero(told)[:: max(1, int(told.sum()) // 24)][:24]
    ratios = ((target[some, None] - values) / f[some, None]).ravel()
    ratios = ratios[(ratios > _LOW) & (ratios < _HIGH)]
    if not len(ratios):
        return None
    hits = [(_gap(target[told] - each * f[told], values) <= 20 * tol).sum() for each in ratios]
    gamma = float(ratios[int(np.argmax(hits))])
    for _ in range(3):
        left = target - gamma * np.nan_to_num(f)
        nearest = values[np.abs(left[:, None] - values).argmin(axis=1)]
        agree = told & (np.abs(left - nearest) <= 10 * tol)
        if agree.sum() < _ROWS // 2:
            return None
        gamma = float(((target - nearest)[agree] @ f[agree]) / (f[agree] @ f[agree]))
    onward = known & (_gap(target - gamma * np.nan_to_num(f), values) <= 5 * tol)
    alone = _gap(target, values) <= 5 * tol
    clear = told & ~(onward & alone)
    left = target - gamma * np.nan_to_num(f)
    reward = np.where(onward, values[np.abs(left[:, None] - values).argmin(axis=1)], np.nan)
    reward = np.where(alone & ~onward, values[np.abs(target[:, None] - values).argmin(axis=1)], reward)
    share = float((onward | alone)[told].mean())
    if share < _GOOD or (onward & clear).sum() < 0.4 * told.sum() or not _LOW < gamma < _HIGH:
        return None
    audits = len(np.unique(audit[onward & clear]))
    masked = alone & clear
    top, bottom = (np.abs(target - each) <= 5 * tol for each in (target.max(), target.min()))
    capped = masked & ((top & (f > 0)) | (bottom & (f < 0)))
    return Free(name, gamma, share, int(told.sum()), audits, reward, onward & clear, masked, audit, ends, often, capped)


def _gap(numbers: Array, values: Array) -> Array:
    return np.asarray(np.abs(numbers[:, None] - values).min(axis=1))
