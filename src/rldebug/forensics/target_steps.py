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
from rldebug.forensics.target_next import Said, bootstraps, elsewhere, once, said_before
from rldebug.forensics.target_rows import Flags, Ints, column_of
from rldebug.forensics.target_twins import Told, World, shares, told

MOST = 10  # steps
_GOOD = 0.9
_FAIR = 0.75  # where a time limit may have struck within any window: that is not seen
_NEAR = 5  # steps, where the bootstrap is from the first of them
_ROWS = 24
_TERMS = 64
_ASKED = 12  # batches that say how many steps it is
_VARIED = 4  # rows that have another reward than usual, for its coefficient to be told
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
    windows = [each for audit, term in evenly(terms) if (each := window_of(world, audit, term, n)) is not None]
    names = Counter(name for each in windows for name in each.f)
    common = [name for name, count in names.items() if count >= 0.6 * len(windows)]
    units = terms[0][1].get("units") is not False
    return _fit(windows, n, common, units) if windows else None


def too_near(world: World, terms: Sequence[tuple[Audit, Event]]) -> Several | None:
    """Rewards of several steps, and the bootstrap from only one step on."""
    if terms[0][1].get("units") is False:
        return None
    windows, walks = [], []
    for audit, term in evenly(terms):
        window, parts = window_of(world, audit, term, 1), _parts(audit, term)
        if window is not None and parts is not None:
            windows.append(window)
            walks.append((parts[0], parts[2]))
    names = Counter(name for each in windows for name in each.f)
    for m in range(2, _NEAR + 1) if windows else ():
        steps = [told(world, ids, taken, None, m) for ids, taken in walks]
        longer = [
            replace(each, steps=step, ended=np.zeros_like(each.ended), inside=np.zeros((len(each.target), m)))
            for each, step in zip(windows, steps, strict=True)
        ]
        found = _fit(longer, m, [name for name, count in names.items() if count >= 0.6 * len(windows)])
        if found is not None and _geometric(found):
            return found
    return None


def _geometric(found: Several) -> bool:
    """All rewards count, each the same factor less than the one before."""
    coefs = [each for each in found.coefs if each is not None]
    if len(coefs) < found.n or found.share < _GOOD or abs(coefs[0] - 1.0) > 2e-3 or not 0.3 < found.power < 1.02:
        return False
    return 0.3 < coefs[1] < 1.02 and all(abs(each - coefs[1] ** k) < 5e-3 for k, each in enumerate(coefs))


def evenly(terms: Sequence[tuple[Audit, Event]]) -> Sequence[tuple[Audit, Event]]:
    """Not more than are looked at; early and late ones: what is paid at ends may be seen late."""
    return terms[:: max(1, -(-len(terms) // _TERMS))]


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
    asked: list[tuple[float, Said]] = []
    for one in said_before(audit, term):
        if len(one.rows) != len(ids):
            continue
        share, judged = shares(world, ids, taken, world.looks(one.rows), n)
        if share >= _GOOD and judged >= 4:
            asked.append((share, one))
    if not asked:
        return None
    # Where observations come back, n steps may lead to where they started: the rows themselves do, too, if less often.
    seen = world.looks(max(asked, key=lambda each: each[0])[1].rows)
    following = [one for _, one in asked if (world.looks(one.rows) == seen).mean() >= _GOOD]
    steps = told(world, ids, taken, seen, n)
    steps = replace(steps, known=steps.known & np.isfinite(numbers))
    ended, crossed, cut, inside = _over(world, ids, taken, seen, n)
    own = world.looks(ids)
    before = [one for one in said_before(audit, term) if len(one.rows) == len(ids)]
    before = [one for one in before if ((looks := world.looks(one.rows)) == own).mean() >= _GOOD and (looks >= 0).all()]
    f = {**bootstraps(following, True, ""), **elsewhere(following, before)}
    return Window(numbers, steps, f, audit.number, crossed, ended, cut, inside)


def _over(world: World, ids: Ints, taken: Array | None, seen: Ints, n: int) -> tuple[Flags, Flags, Flags, Array]:
    """Rows that an end lies within the window of, and whether what was asked about lies beyond it."""
    ahead = world.ahead(n)
    ended, crossed, cut = (np.zeros(len(ids), dtype=bool) for _ in range(3))
    inside = np.zeros((len(ids), n))
    for row, id in enumerate(ids.tolist()):
        action = None if taken is None else float(taken[row])
        led = world.leading(n, id, action)
        if not led or seen[row] < 0 or (len(led) + len(next(iter(led.values()))) > 2 and int(seen[row]) in led):
            continue  # of several steps that it may be, one leads there within its episode
        over = [
            at
            for at in world.ended_within(n, id, action)
            if ahead.look[at] >= 0 and ahead.across[at] >= 0 and ahead.look[at] != ahead.across[at]
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
    usual = np.median(rewards, axis=0)
    vary = [k for k in range(n) if np.count_nonzero(np.abs(rewards[:, k] - usual[k]) > 1e-9) >= _VARIED]
    flat = [k for k in range(n) if k not in vary]
    columns = [rewards[:, k] for k in vary]
    if constant or any(abs(np.median(rewards[:, k])) > 1e-9 for k in flat):
        columns.append(np.ones(len(y)))
    fit = robust(y, [*columns, f], tol)
    coefs: list[float | None] = [None] * n
    if fit and not constant:
        for place, k in enumerate(vary):
            if np.count_nonzero(np.abs(rewards[fit.agree, k] - usual[k]) > 1e-9) >= _VARIED:
                coefs[k] = float(fit.coef[place])
    return fit, tuple(coefs)
