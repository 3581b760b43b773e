"""By which recursion advantages were made that are not the critic's targets less its values.

Many programs train the critic on one kind of return, and weight log-probs with another: A = δ + κ A', with
δ = r + γ V' - V and κ = γλ, normalised over the batch. Then w = a A + b is still linear in what is known:

    w = a r + aγ V' - a V + κ w' + b (1-κ)

The factor a is that of the values; γ is the quotient of those of V' and V; κ stands before the next weight. All batches
have to agree on γ and κ, and nearly all rows have to follow it down to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Where
from rldebug.forensics.robust_fit import Array, robust, tolerance
from rldebug.forensics.target_rows import Flags, Steps, groups, where_of

_ROWS = 24
_SHARE = 0.95
_BATCHES = 6
_HIT = 0.9
_ENDS = 4
_LOOSE, _TIGHT = 3e-4, 1e-5  # tolerances, in spreads of the weights


@dataclass(frozen=True)
class Way:
    """How rows of a kind of end were made: zero, leak (the carried sum goes on), value (the next value counts)."""

    kind: str  # terminated, truncated
    way: str
    rows: int
    hit: int
    audits: int
    share: float


@dataclass(frozen=True)
class Recursion:
    gamma: float  # in the TD error
    carried: float  # κ
    swapped: bool  # the value of the state is added, and the next one taken off
    forwards: bool  # κ stands before the weight of the step before
    share: float
    rows: int
    audits: int
    ways: tuple[Way, ...] = ()


@dataclass(frozen=True, eq=False)
class _Fit:
    steps: Steps
    gamma: float
    carried: float
    swapped: bool
    forwards: bool
    share: float
    rows: int
    reward: float
    onward: float
    own: float
    constant: float
    tol: float


@lru_cache(maxsize=8)
def recursions(script: Script) -> tuple[tuple[Recursion, Where], ...]:
    """Of each policy loss whose weights follow one."""
    found = [(recursion(each.steps), where_of(each.terms)) for each in groups(script, "policy", "weight")]
    return tuple((each, where) for each, where in found if each is not None)


def recursion(steps: Steps) -> Recursion | None:
    parts = _largest(steps)
    fits = [each for each in map(_of, parts) if each is not None]
    if len(fits) < 2 or len(fits) < 0.7 * len(parts):
        return None
    gammas, carried = [each.gamma for each in fits], [each.carried for each in fits]
    alike = len({(each.swapped, each.forwards) for each in fits}) == 1
    if not alike or max(gammas) - min(gammas) > 4e-3 or max(carried) - min(carried) > 4e-3:
        return None
    return Recursion(
        gamma=float(np.median(gammas)),
        carried=float(np.median(carried)),
        swapped=fits[0].swapped,
        forwards=fits[0].forwards,
        share=min(each.share for each in fits),
        rows=sum(each.rows for each in fits),
        audits=len(fits),
        ways=() if fits[0].swapped or fits[0].forwards else _ways(fits),
    )


def _largest(steps: Steps) -> list[Steps]:
    best: dict[int, tuple[int, int]] = {}
    for batch in np.unique(steps.batch):
        keep = steps.batch == batch
        audit, count = int(steps.audit[keep][0]), int((keep & steps.inner).sum())
        if count >= _ROWS and count > best.get(audit, (0, 0))[0]:
            best[audit] = (count, int(batch))
    found = [steps.of(batch) for _, batch in sorted(best.values(), reverse=True)[:_BATCHES]]
    return found or _pooled(steps)


def _pooled(steps: Steps) -> list[Steps]:
    """Short rollouts: those of every other audit together, which follow one line if nothing was normalised."""
    numbers = np.unique(steps.audit)
    parts = [steps.only(np.isin(steps.audit, numbers[start::2])) for start in (0, 1)]
    return [each for each in parts if each.inner.sum() >= 2 * _ROWS]


def _of(steps: Steps) -> _Fit | None:
    # A critic that has hardly begun says nearly nothing: then only rounding tells what its values count.
    return _within(steps, _LOOSE) or _within(steps, _TIGHT)


def _within(steps: Steps, relative: float) -> _Fit | None:
    weight, value, onward = steps.target, steps.value, steps.value_after
    keep: Flags = steps.plain if steps.plain.sum() >= _ROWS else steps.inner
    for each in (weight, steps.reward, value, onward):
        keep = keep & np.isfinite(each)
    for forwards in (False, True):
        other = steps.last("target") if forwards else steps.next("target")
        used = keep & np.isfinite(other)
        if used.sum() < _ROWS:
            continue
        tol = tolerance(weight[used], relative=relative)
        if min(float(np.std(each[used])) for each in (weight, value, onward, other)) < 20 * tol:
            continue
        varies = float(np.std(steps.reward[used])) > 1e-6
        rewards = [steps.reward[used]] if varies else []
        one = np.ones(int(used.sum()))
        fit = robust(weight[used], [one, *rewards, onward[used], value[used], other[used]], tol)
        if not fit or fit.share < _SHARE:
            continue
        on_next, own, carried = (float(each) for each in fit.coef[-3:])
        # The weight of the values must be told by the rows: else γ is anybody's guess.
        if min(abs(on_next), abs(own)) * float(np.std(value[used])) < 30 * tol or not -0.01 < carried < 1.02:
            continue
        reward = float(fit.coef[1]) if varies else 0.0
        swapped = own > 0 > on_next
        if not swapped and not own < 0 < on_next:
            continue
        if varies and reward < 0:
            continue  # downhill as a whole: a sign that was lost, which is another matter
        if swapped and not varies:
            continue
        gamma = -own / on_next if swapped and abs(on_next) > abs(own) else -on_next / own
        if not 0.3 < gamma < 1.02:
            continue
        return _Fit(
            steps, gamma, carried, swapped, forwards, fit.share, int(used.sum()), reward, on_next, own,
            float(fit.coef[0]), tol,
        )  # fmt: skip
    return None


def _ways(fits: Sequence[_Fit]) -> tuple[Way, ...]:
    found = []
    for kind in ("terminated", "truncated"):
        way = _way(kind, fits)
        if way is not None:
            found.append(way)
    return tuple(found)


def _way(kind: str, fits: Sequence[_Fit]) -> Way | None:
    """The one way that nearly all rows of the kind follow, where others would give other numbers."""
    names = ("zero", "final", "leak", "follows", "value")
    hits = dict.fromkeys(names, 0)
    audits: dict[str, set[int]] = {name: set() for name in names}
    rows = total = 0
    for fit in fits:
        steps = fit.steps
        total += len(steps)
        if abs(1.0 - fit.carried) < 1e-4:
            return None  # how the constant goes on at an end is not told
        keep = (steps.terminated if kind == "terminated" else steps.truncated & ~steps.terminated) & ~steps.phantom
        keep = keep & np.isfinite(steps.reward) & np.isfinite(steps.value) & (steps.after >= 0)
        reward = fit.reward * steps.reward
        constant = fit.constant
        if not fit.reward:  # rewards are all alike: part of the constant
            reward, constant = np.full(len(steps), -fit.own * float(np.nanmedian(steps.reward))), constant
            constant = constant - float(reward[0])
        base = reward + fit.own * steps.value
        alone = constant / (1.0 - fit.carried)
        following = steps.next("target")
        ways: dict[str, Array] = {
            "zero": base + alone,
            "final": base + fit.onward * steps.value_next + alone,
            "leak": base + fit.carried * following + constant,
            "follows": base + fit.onward * steps.value_after + fit.carried * following + constant,
            "value": base + fit.onward * steps.value_after + alone,
        }
        rows += int(keep.sum())
        for name, numbers in ways.items():
            hit = keep & (np.abs(numbers - steps.target) <= 3.0 * fit.tol)
            hits[name] += int(hit.sum())
            if hit.any():
                audits[name].add(int(steps.audit[0]))
    if rows < _ENDS:
        return None
    good = [name for name in names if hits[name] >= _HIT * rows]
    if len(good) != 1:
        return None
    return Way(kind, good[0], rows, hits[good[0]], len(audits[good[0]]), rows / max(total, 1))
