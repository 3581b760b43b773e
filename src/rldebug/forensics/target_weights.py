"""What the log-probs are weighted with: the advantage of the critic's targets, another one, or rows in another order.

An advantage may be scaled and moved as one likes, minibatch by minibatch: a weight is compared up to a positive factor
and a constant. A negative factor is a sign that was lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.epoch_order import unshuffled
from rldebug.forensics.robust_fit import Array, affine, tolerance
from rldebug.forensics.target_orders import reordered
from rldebug.forensics.target_rows import Flags, Group, Ints, Site, Steps, column_of, places_of, sited, where_of
from rldebug.forensics.told_apart import told_apart

_ROWS = 12
_GOOD = 0.9
_BAD = 0.3
_PER_AUDIT = 8


@dataclass(frozen=True)
class Weights:
    of: str  # advantage, td-error, reward, per-lane, unordered, before, after: that of the step before, or after
    slope: float  # its sign tells
    share: float
    rows: int
    audits: int
    terms: int
    unit: bool = (
        False  # exactly target - value, and yet of mean 0 and deviation 1: targets were made of normalised ones
    )
    site: Site = ()
    where: Where = field(default_factory=Where)


@dataclass(frozen=True, eq=False)
class _One:
    of: str
    slope: float
    share: float
    rows: int
    audit: int
    constant: float = 1.0
    weights: Array | None = None
    targets: Array | None = None


def weights_of(script: Script, critics: Sequence[Group], gamma: float | None) -> list[Weights]:
    """For each policy term of the program what its weights are, where all that could be compared agree."""
    tables = [_Table(each.steps, gamma) for each in critics]
    by_site: dict[Site, list[_One]] = {}
    terms: dict[Site, list[Event]] = {}
    compared: Counter[Site] = Counter()
    for audit in told_apart(script):
        here: Counter[Site] = Counter()
        passed: Counter[Site] = Counter()  # rows of the losses before
        for site, term in sited(audit, "policy"):
            here[site] += 1
            start = passed[site]
            passed[site] += len(term.arrays.get("rows", ()))
            weight = column_of(term, "weight")
            if weight is None or here[site] > _PER_AUDIT or compared[site] >= 48 or "target" in term.arrays:
                continue  # with a target of its own it is a classification
            found = False
            for table in tables:
                places = table.places(audit, term.arrays["rows"])
                keep = (places >= 0) & np.isfinite(weight)
                if keep.sum() < _ROWS:
                    continue
                found = True
                compared[site] += 1
                one = match(weight[keep], table.steps, places[keep], table.gamma)
                if one is None and (told := unshuffled(audit, term, weight, start, table.advantages(audit))):
                    one = _One("unordered", *told, int(keep.sum()), audit.number)
                if one is not None:
                    one = replace(one, weights=weight[np.isfinite(weight)])  # those of rows that look alike too
                    by_site.setdefault(site, []).append(one)
                    terms.setdefault(site, []).append(term)
                break
            if not found:
                one = _beside(audit, term, weight)
                if one is not None:
                    compared[site] += 1
                    by_site.setdefault(site, []).append(one)
                    terms.setdefault(site, []).append(term)
    return [each for site, found in by_site.items() for each in _agreed(site, found, compared[site], terms[site])]


def _agreed(site: Site, found: Sequence[_One], compared: int, terms: Sequence[Event]) -> Iterator[Weights]:
    (of, up), count = Counter((each.of, each.slope > 0) for each in found).most_common(1)[0]
    alike = [each for each in found if each.of == of and (each.slope > 0) == up]
    audits = len({each.audit for each in alike})
    if count < _GOOD * len(found) or count < 0.6 * compared or audits < 2:
        return
    slope = float(np.median([each.slope for each in alike]))
    share = min(each.share for each in alike)
    rows = sum(each.rows for each in alike)
    yield Weights(of, slope, share, rows, audits, count, _unit(alike), site, where_of(terms))


def _unit(found: Sequence[_One]) -> bool:
    """Whether the weights are normalised, although they are the errors of the critic as they are."""
    if any(each.of != "advantage" or abs(each.slope - 1.0) > 1e-3 or abs(each.constant) > 1e-3 for each in found):
        return False
    audits = {each.audit for each in found}
    for audit in audits:
        weights = [each.weights for each in found if each.audit == audit and each.weights is not None]
        targets = [each.targets for each in found if each.audit == audit and each.targets is not None]
        if not weights or sum(len(each) for each in weights) < 256:
            return False
        # Where the targets themselves are normalised, and values are still near zero, errors are so too, but less well.
        off, of_targets = _off(np.concatenate(weights)), _off(np.concatenate(targets))
        if off > 0.04 or of_targets < max(2.5 * off, 0.02):
            return False
    return len(audits) >= 3


def _off(numbers: Array) -> float:
    """How far from a mean of 0 and a deviation of 1."""
    return abs(float(numbers.mean())) + abs(float(numbers.std()) - 1.0)


def _beside(audit: Audit, term: Event, weight: Array) -> _One | None:
    """Without an environment: beside the error of a critic, of as many rows, that learns at the same time."""
    for other in audit.terms("regression"):
        target, prediction = other.arrays.get("target"), other.arrays.get("prediction")
        if target is None or prediction is None or "index" in other.arrays or abs(other.update - term.update) > 1:
            continue
        if np.size(target) != len(weight) or np.size(prediction) != len(weight):
            continue
        error = np.ravel(target).astype(np.float64) - np.ravel(prediction)
        keep = np.isfinite(weight) & np.isfinite(error)
        mask = other.arrays.get("mask")
        if mask is not None and np.size(mask) == len(weight):
            keep &= np.ravel(mask) != 0
        if keep.sum() < 2 * _ROWS or float(np.std(weight[keep])) < 1e-9 or float(np.std(error[keep])) < 1e-9:
            continue
        tol = tolerance(weight[keep])
        fit = affine(weight[keep], error[keep], tol)
        if fit and fit.share >= _GOOD and abs(float(fit.coef[0])) * float(np.std(error[keep])) > 20 * tol:
            return _One("advantage", float(fit.coef[0]), fit.share, int(keep.sum()), audit.number)
        share = _by_reward(weight, np.ravel(target), np.ravel(prediction), keep, other["shapes"].get("target") or [])
        if share:
            return _One("reward", 1.0, share, int(keep.sum()), audit.number)
    return None


def _by_reward(weight: Array, target: Array, prediction: Array, keep: Flags, shape: Sequence[int]) -> float:
    """Share of rows in which the target is weight + value plus the next target, discounted: the weight is the reward
    minus the value then. 0 where that is not so. Time may be the first axis or the second."""
    target, reward = target.astype(np.float64), weight + prediction
    for lag in {1, len(weight) // shape[0] if shape and shape[0] else 1}:
        following = np.append(target[lag:], np.full(min(lag, len(target)), np.nan))
        used = keep & np.isfinite(following) & np.isfinite(reward)
        if lag == 1 and len(shape) == 2:
            used &= np.arange(len(target)) % shape[1] != shape[1] - 1
        if used.sum() < 2 * _ROWS or float(np.std(following[used])) < 1e-9:
            continue
        tol = tolerance(target[used])
        fit = affine((target - reward)[used], following[used], tol)
        if not fit or fit.share < _GOOD:
            continue
        gamma, constant = float(fit.coef[0]), float(fit.coef[1])
        told = gamma * float(np.std(following[used])) > 20 * tol
        if told and 0.3 < gamma < 1.02 and abs(constant) < 3 * tol:
            return fit.share
    return 0.0


class _Table:
    """Finds rows of a critic's table by audit and node."""

    def __init__(self, steps: Steps, gamma: float | None) -> None:
        self.steps, self.gamma = steps, gamma
        self._at = {key: place for place, key in enumerate(zip(steps.audit.tolist(), steps.node.tolist(), strict=True))}

    def advantages(self, audit: Audit) -> dict[int, float]:
        """By the place of the node."""
        own = self.steps.audit == audit.number
        errors = (self.steps.target - self.steps.value)[own]
        return dict(zip(self.steps.node[own].tolist(), errors.tolist(), strict=True))

    def places(self, audit: Audit, ids: Ints) -> Ints:
        nodes = places_of(audit.nodes, ids).tolist()
        return np.array([self._at.get((audit.number, each), -1) for each in nodes], dtype=np.int64)


def match(weight: Array, steps: Steps, places: Ints, gamma: float | None) -> _One | None:
    """What the weights of one loss are, beside the rows of the critic's table."""
    audit = int(steps.audit[places[0]])
    if float(np.std(weight)) < 1e-9:
        return None
    tol = tolerance(weight)
    for of, reference in _references(steps, gamma):
        seen = reference[places]
        keep = np.isfinite(seen)
        if of == "reward":
            keep = keep & ~steps.done[places]
        if keep.sum() < _ROWS or keep.sum() < 0.5 * len(places) or float(np.std(seen[keep])) < 1e-9:
            continue
        fit = affine(weight[keep], seen[keep], tol)
        if fit and fit.share >= _GOOD and abs(float(fit.coef[0])) * float(np.std(seen[keep])) > 20 * tol:
            one = _One(of, float(fit.coef[0]), fit.share, int(keep.sum()), audit, float(fit.coef[1]))
            return replace(one, weights=weight[keep], targets=steps.target[places][keep])
    advantage = (steps.target - steps.value)[places]
    keep = np.isfinite(advantage)
    if keep.sum() >= 2 * _ROWS and keep.all():
        found = _unordered(weight, advantage, audit, tol) or _per_lane(
            weight, advantage, steps.lane[places], audit, tol
        )
        if found is not None:
            return found
    return _turned(weight, steps, places, audit, tol)


def _references(steps: Steps, gamma: float | None) -> Iterator[tuple[str, Array]]:
    yield "advantage", steps.target - steps.value
    if gamma is not None:
        onward = np.where(steps.terminated, 0.0, np.where(steps.done, steps.value_next, steps.value_after))
        yield "td-error", steps.reward + gamma * onward - steps.value
    yield "target", steps.target
    yield "reward", steps.reward - steps.value


def _unordered(weight: Array, advantage: Array, audit: int, tol: float) -> _One | None:
    """The same numbers, in other rows. Only where they are many and differ from each other."""
    if len(np.unique(np.round(advantage / max(float(np.std(advantage)), 1e-12), 3))) < 0.8 * len(advantage):
        return None
    fit = affine(np.sort(weight), np.sort(advantage), tol)
    if not fit or fit.share < 0.97 or float(fit.coef[0]) <= 0.0:
        return None
    paired: Flags = np.abs(weight - fit.coef[0] * advantage - fit.coef[1]) <= 10.0 * tol
    return _One("unordered", float(fit.coef[0]), fit.share, len(weight), audit) if paired.mean() < _BAD else None


def _turned(weight: Array, steps: Steps, places: Ints, audit: int, tol: float) -> _One | None:
    """Advantages of other rows of the rollout: time and lanes changed places, time runs backwards, or they are those of
    the step before, or after."""
    advantage = np.append(steps.target - steps.value, np.nan)
    others = [("unordered", order) for _, order in reordered(steps)]
    for of, order in [*others, ("before", steps.before), ("after", steps.after)]:
        seen = advantage[order[places]]
        keep = np.isfinite(seen)
        if keep.sum() < max(_ROWS, 0.5 * len(places)) or float(np.std(seen[keep])) < 1e-9:
            continue
        fit = affine(weight[keep], seen[keep], tol)
        if fit and fit.share >= _GOOD and float(fit.coef[0]) * float(np.std(seen[keep])) > 20 * tol:
            paired = np.abs(weight - fit.coef[0] * advantage[places] - fit.coef[1]) <= 10.0 * tol
            if paired.mean() < _BAD:
                return _One(of, float(fit.coef[0]), fit.share, int(keep.sum()), audit)
    return None


def _per_lane(weight: Array, advantage: Array, lane: Ints, audit: int, tol: float) -> _One | None:
    slopes, shares = [], []
    lanes = np.unique(lane)
    if len(lanes) < 2:
        return None
    for each in lanes:
        keep = lane == each
        fit = affine(weight[keep], advantage[keep], tol) if keep.sum() >= 8 else None
        if fit is None or not fit or fit.share < _GOOD:
            return None
        slopes.append(float(fit.coef[0]))
        shares.append(fit.share)
    if min(slopes) <= 0 or max(slopes) < 1.01 * min(slopes):
        return None
    return _One("per-lane", float(np.median(slopes)), min(shares), len(weight), audit)
