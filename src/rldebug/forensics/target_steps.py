"""Targets of several steps: T = r₀ + γ r₁ + … + γⁿ⁻¹ rₙ₋₁ + γⁿ f(the n-th observation on).

How many steps it is, is seen from where the bootstrap is asked. What every reward and the bootstrap are multiplied with
is then fitted one by one, and compared with the powers of γ that they should be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.robust_fit import Array, Fitted, robust, tolerance
from rldebug.forensics.target_next import Said, bootstraps, once, said_before
from rldebug.forensics.target_rows import Flags, Ints, column_of
from rldebug.forensics.target_twins import Told, World, shares, told

MOST = 10  # steps
_GOOD = 0.9
_FAIR = 0.75  # where a time limit may have struck within any window: that is not seen
_ROWS = 24
_TERMS = 40
_ASKED = 12  # batches that say how many steps it is
_SLACK = 0.01  # of rows that may be lost


@dataclass(frozen=True, eq=False)
class Window:
    """Rows of one loss, with what happened in the n steps from each."""

    target: Array
    steps: Told
    f: dict[str, Array]
    audit: int
    crossed: Flags  # an episode ended within the window, and the bootstrap is from beyond
    ended: Flags  # an episode ended within the window, and beyond it looks different
    cut: Flags  # by a time limit
    inside: Array  # (rows, n): rewards up to that end

    def rows(self, n: int) -> Flags:
        return np.asarray(self.steps.known & (self.steps.length == n) & ~self.steps.terminated & ~self.steps.truncated)


@dataclass(frozen=True, eq=False)
class Several:
    """What the targets of several steps are made of."""

    name: str
    n: int
    coefs: tuple[float | None, ...]  # of the rewards; None where there was nothing to tell it by
    power: float  # of the bootstrap
    share: float
    rows: int
    agree: Flags
    tol: float
    windows: tuple[Window, ...]
    units: bool = True  # rewards and targets are in the same units

    @property
    def gamma(self) -> float | None:
        """By the rewards alone."""
        first, second = self.coefs[0], self.coefs[1] if len(self.coefs) > 1 else None
        return second / first if first and second is not None and abs(first - 1.0) < 0.02 else None


def several_steps(world: World, terms: Sequence[tuple[Audit, Event]]) -> Several | None:
    n = count_of(world, terms)
    if n is None:
        return None
    windows = [each for audit, term in terms[:_TERMS] if (each := window_of(world, audit, term, n)) is not None]
    names = Counter(name for each in windows for name in each.f)
    common = [name for name, count in names.items() if count >= 0.6 * len(windows)]
    units = terms[0][1].get("units") is not False
    return _fit(windows, n, common, units) if windows else None


def _parts(audit: Audit, term: Event) -> tuple[Ints, Array, Array | None] | None:
    numbers = column_of(term, "target")
    if numbers is None or len(numbers) < 4:
        return None
    ids, numbers, index = once(term.arrays["rows"], numbers, term.arrays.get("index"))
    taken = np.ravel(index).astype(np.float64) if index is not None and np.size(index) == len(ids) else None
    return None if taken is None else (ids, numbers, taken)


def count_of(world: World, terms: Sequence[tuple[Audit, Event]]) -> int | None:
    """How many steps on the networks were asked about, by all batches together, where it is not one.

    Where observations come back, a walk of two steps may well end where one of three does: no batch tells it alone.
    """
    sums: dict[str, Array] = {}  # by module and n: hits, rows judged
    batches: Counter[str] = Counter()
    for audit, term in terms[:_ASKED]:  # the first ones: all that can be learned from is still remembered
        parts = _parts(audit, term)
        if parts is None:
            continue
        ids, _, taken = parts
        own = world.looks(ids)
        for one in said_before(audit, term):
            if len(one.rows) != len(ids):
                continue
            seen = world.looks(one.rows)
            if (seen == own).all():
                continue  # it was asked about the rows themselves
            found = np.array([shares(world, ids[:32], taken, seen, n) for n in range(1, MOST + 1)])
            found[:, 0] *= found[:, 1]
            sums[one.module] = sums.get(one.module, np.zeros((MOST, 2))) + found
            batches[one.module] += 1
    best: tuple[float, int] | None = None
    for module, (hits, judged) in ((name, each.T) for name, each in sums.items()):
        share = np.where(judged >= 8 * batches[module], hits / np.maximum(judged, 1), 0.0)
        n = int(np.flatnonzero(share >= share.max() - _SLACK)[0]) + 1  # a longer walk may end anywhere
        if batches[module] >= 2 and share.max() >= _GOOD and (best is None or share.max() > best[0]):
            best = (float(share.max()), n)
    return best[1] if best is not None and best[1] > 1 else None


def window_of(world: World, audit: Audit, term: Event, n: int) -> Window | None:
    parts = _parts(audit, term)
    if parts is None:
        return None
    ids, numbers, taken = parts
    following: list[Said] = []
    for one in said_before(audit, term):
        if len(one.rows) != len(ids):
            continue
        share, judged = shares(world, ids, taken, world.looks(one.rows), n)
        if share >= _GOOD and judged >= 4:
            following.append(one)
    if not following:
        return None
    seen = world.looks(following[-1].rows)
    steps = told(world, ids, taken, seen, n)
    steps = replace(steps, known=steps.known & np.isfinite(numbers))
    ended, crossed, cut, inside = _over(world, ids, taken, seen, n)
    return Window(numbers, steps, bootstraps(following, True, ""), audit.number, crossed, ended, cut, inside)


def _over(world: World, ids: Ints, taken: Array | None, seen: Ints, n: int) -> tuple[Flags, Flags, Flags, Array]:
    """Rows that an end lies within the window of, and whether what was asked about lies beyond it."""
    ahead = world.ahead(n)
    ended, crossed, cut = (np.zeros(len(ids), dtype=bool) for _ in range(3))
    inside = np.zeros((len(ids), n))
    for row, id in enumerate(ids.tolist()):
        copies = world.copies(id, None if taken is None else float(taken[row]))
        if not copies or seen[row] < 0 or (len(copies) > 1 and (ahead.look[copies] == seen[row]).any()):
            continue  # of several steps that it may be, one leads there within its episode
        over = [at for at in copies if (ahead.terminated[at] or ahead.truncated[at]) and ahead.length[at] < n]
        over = [
            at for at in over if ahead.look[at] >= 0 and ahead.across[at] >= 0 and ahead.look[at] != ahead.across[at]
        ]
        beyond = [at for at in over if ahead.across[at] == seen[row]]
        if over:
            ended[row] = True
            crossed[row] = bool(beyond)
            cut[row] = bool(ahead.truncated[(beyond or over)[0]])
            inside[row] = ahead.rewards[(beyond or over)[0]]
    return ended, crossed, cut, inside


def _fit(windows: Sequence[Window], n: int, names: Sequence[str], units: bool = True) -> Several | None:
    target = np.concatenate([each.target for each in windows])
    rewards = np.concatenate([each.steps.rewards for each in windows])
    used = np.concatenate([each.rows(n) for each in windows])
    perhaps = np.concatenate([each.steps.perhaps for each in windows])
    best: Several | None = None
    for name in names:
        f = np.concatenate([each.f.get(name, np.full(len(each.target), np.nan)) for each in windows])
        kept = used & np.isfinite(f)
        if kept.sum() < _ROWS:
            continue
        tol = tolerance(target[kept], rewards[kept].sum(axis=1), target[kept])
        fit, coefs = _one(target[kept], rewards[kept], f[kept], tol, constant=not units)
        if not fit or fit.share < (_FAIR if perhaps[kept].mean() > 0.5 else _GOOD):
            continue
        agree = np.zeros(len(target), dtype=bool)
        agree[kept] = fit.agree
        made = Several(name, n, coefs, float(fit.coef[-1]), fit.share, fit.rows, agree, tol, tuple(windows), units)
        if best is None or (agree & ~best.agree).sum() > 9 * (best.agree & ~agree).sum() + 4:
            best = made
    return best


def _one(
    y: Array, rewards: Array, f: Array, tol: float, *, constant: bool = False
) -> tuple[Fitted, tuple[float | None, ...]]:
    """Coefficients of each reward and of the bootstrap. Rewards that are always alike are one column."""
    n = rewards.shape[1]
    vary = [k for k in range(n) if np.count_nonzero(np.abs(rewards[:, k] - np.median(rewards[:, k])) > 1e-9) >= 4]
    flat = [k for k in range(n) if k not in vary]
    columns = [rewards[:, k] for k in vary]
    if constant or any(abs(np.median(rewards[:, k])) > 1e-9 for k in flat):
        columns.append(np.ones(len(y)))
    fit = robust(y, [*columns, f], tol)
    coefs: list[float | None] = [None] * n
    if fit and not constant:
        for place, k in enumerate(vary):
            coefs[k] = float(fit.coef[place])
    return fit, tuple(coefs)
