"""Returns that are standardised, rollout by rollout, for a critic whose values are then used as they are.

With returns R = r + γ (1-λ) V' + γλ R' and targets T = (R - m) / s, where m and s are those of the rollout:

    T = r/s + γ (1-λ)/s V' + γλ T' + constant

The factors of r and V' change together from rollout to rollout. Where values are brought back to the scale of rewards
first, that of V' stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Where
from rldebug.forensics.robust_fit import robust, tolerance
from rldebug.forensics.target_rows import Steps, groups, where_of

_ROWS = 48
_BATCHES = 8
_AUDITS = 2
_SHARE = 0.95
_TIGHT = 1e-5  # tolerance, in spreads of the targets: what values count is little, and told by rounding alone
_ALIKE = 5e-4  # between rollouts: the fits are good to rounding
_APART = 0.05  # share by which the factors of next values differ
_MANY = 4  # audits, where rewards are all alike
_UNIT = 0.03  # of mean 0 and deviation 1
_CLEARLY = 0.1  # of one, by which rewards are scaled


@dataclass(frozen=True)
class Standardised:
    scales: tuple[float, ...]  # what rewards are multiplied with, rollout by rollout
    gamma: float  # 0: not told
    rows: int
    audits: int
    where: Where


def standardised(script: Script) -> Standardised | None:
    for group in groups(script, "regression", "target"):
        steps = group.steps
        numbers, counts = np.unique(steps.batch, return_counts=True)
        largest = numbers[np.argsort(-counts, kind="stable")][:_BATCHES]
        found = [each for number in largest if (each := _factors(steps.of(int(number)))) is not None]
        if len(found) >= 0.5 * len(largest) and (gamma := _gamma(found)) is not None:
            scale = tuple(each.scale for each in found)
            audits = len({each.audit for each in found})
            return Standardised(scale, gamma, sum(each.rows for each in found), audits, where_of(group.terms))
    return None


@dataclass(frozen=True)
class _Factors:
    """Of reward, next value and next target in one rollout."""

    scale: float  # of the reward; as good as that of the next value, where rewards are all alike
    onward: float
    carried: float
    varied: bool  # rewards are not all alike
    unit: bool  # targets have mean 0 and deviation 1
    rows: int
    audit: int


def _gamma(found: Sequence[_Factors]) -> float | None:
    """Where the factors of rewards and of next values change together, and nothing else does."""
    reward, onward, carried = (
        np.array([getattr(each, name) for each in found]) for name in ("scale", "onward", "carried")
    )
    audits = len({each.audit for each in found})
    if audits < _AUDITS or np.ptp(onward) <= _APART * np.abs(onward).max() or np.ptp(carried) > _ALIKE:
        return None
    if not all(each.varied for each in found):
        # What rewards are multiplied with is not told. Running statistics hardly give just this in each rollout.
        alone = audits >= _MANY and all(each.unit for each in found) and not any(each.varied for each in found)
        return 0.0 if alone and carried.mean() > 0.1 else None
    gammas = onward / reward + carried
    if np.abs(reward - 1.0).max() <= _CLEARLY or np.ptp(gammas) > _ALIKE or not 0.3 < gammas.mean() < 1.02:
        return None
    return float(gammas.mean())


def _factors(steps: Steps) -> _Factors | None:
    target, reward, after, following = steps.target, steps.reward, steps.value_after, steps.next("target")
    keep = steps.plain
    for each in (target, reward, after, following):
        keep = keep & np.isfinite(each)
    if keep.sum() < _ROWS:
        return None
    tol = tolerance(target[keep], reward[keep], relative=_TIGHT)
    varied = float(np.std(reward[keep])) >= 50.0 * tol
    columns = [*([reward[keep]] if varied else []), after[keep], following[keep]]
    if min(float(np.std(each)) for each in columns[-2:]) < 50.0 * tol:
        return None
    fit = robust(target[keep], [*columns, np.ones(int(keep.sum()))], tol)
    if not fit or fit.share < _SHARE:
        return None
    coef = [float(each) for each in fit.coef]
    onward, carried = coef[-3], coef[-2]
    scale = coef[0] if varied else onward
    # The factor of the values has to be told by the rows: early on they hardly differ.
    if not scale > 0.0 or abs(onward) * float(np.std(after[keep])) < 50.0 * tol:
        return None
    unit = abs(float(target.mean())) < _UNIT and abs(float(target.std()) - 1.0) < _UNIT
    return _Factors(scale, onward, carried, varied, unit, int(keep.sum()), int(steps.audit[0]))
