"""Which formula the targets of a rollout follow. Pure arithmetic on `Steps`: no prior, no grid.

Within an episode nearly every way of making targets is a recursion that is linear in what is known:
T = a r + γ(1-λ) V' + γλ T'. Its coefficients name γ and λ. Formulas that are mistakes (the reward of another step, the
value of the state itself, a sum that runs forwards) are linear too: they win only on rows where the right ones fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rldebug.forensics.robust_fit import Array, Fitted, robust, tolerance
from rldebug.forensics.target_rows import Flags, Steps

ROWS = 12  # that a formula is fitted on at least
_GOOD = 0.9  # share of rows that it explains
_ALL = 0.998  # so good that no mistake is looked for
_DECIDING = 8  # rows that only one of two formulas explains


@dataclass(frozen=True, eq=False)
class Formula:
    """Of the steps within episodes."""

    name: str  # monte-carlo, td, gae, reward; or a mistake
    gamma: float | None = None
    lam: float | None = None
    reward: float = 1.0  # its coefficient
    constant: float = 0.0
    on_value: float = 0.0  # coefficients of V' and T'
    on_target: float = 0.0
    changed: str = ""  # what was done to the reward: clip, sign
    mistake: bool = False
    share: float = 0.0
    rows: int = 0
    audits: int = 0
    tol: float = 0.0
    residual: float | None = None  # of the rows that it explains, relative to the spread of the targets
    runner_up: tuple[str, float] | None = None  # the formula that came next, and the share of rows that it explains

    @property
    def simple(self) -> bool:
        """Whether the formula also says what the ends of episodes should look like."""
        return not self.mistake and (self.constant == 0.0 or self.name == "monte-carlo")


@dataclass(frozen=True, eq=False)
class _Try:
    name: str
    y: Array
    columns: tuple[Array, ...]
    roles: tuple[str, ...]  # of each column: r, v, t, 1, …
    changed: str = ""
    mistake: bool = False
    fixed: bool = True  # the reward has the coefficient 1


def right_formula_of(steps: Steps, least: float = _GOOD) -> Formula | None:
    """Of all batches together, among the formulas that are no mistakes. `least`: share of rows that it explains."""
    return _believed(_best(steps, list(_right(steps)), least), least)


def scaled_formula_of(steps: Steps, least: float = _GOOD) -> Formula | None:
    """As above, of rewards that were scaled or shifted, all alike."""
    return _believed(_best(steps, list(_scaled(steps)), least), least)


def _believed(best: Formula | None, least: float) -> Formula | None:
    return best if best is not None and best.share >= least and best.audits >= 2 else None


def formula_of(steps: Steps, *, critic: bool = True) -> Formula | None:
    """Of all batches together, or of each where every batch is scaled on its own. None where none is sure.

    `critic`: the target of a critic. Weights of log-probs may well be values, so fewer things are mistakes there.
    """
    best = _best(steps, [*_right(steps), *_mistakes(steps, critic)])
    if best is None or best.share < _GOOD:
        alone = _each_alone(steps, critic)
        best = alone if alone is not None and (best is None or alone.share > best.share) else best
    if critic and (best is None or best.share < _GOOD):
        # Short episodes: each batch is too small, but the program scales or shifts all rewards alike.
        best = _best(steps, [*_scaled(steps), *_shifted(steps)])
    if best is None or best.share < _GOOD or best.audits < 2:
        return None
    return best


def _right(steps: Steps) -> Iterator[_Try]:
    after, next_target = steps.value_after, steps.next("target")
    for changed, reward in _rewards(steps):
        y = steps.target - reward
        yield _Try("reward", y, (), (), changed)
        yield _Try("monte-carlo", y, (next_target,), ("t",), changed)
        yield _Try("td", y, (after,), ("v",), changed)
        yield _Try("gae", y, (after, next_target), ("v", "t"), changed)


def _rewards(steps: Steps) -> Iterator[tuple[str, Array]]:
    yield "", steps.reward
    known = steps.reward[np.isfinite(steps.reward)]
    if len(known) and np.abs(known).max() > 1.0:
        yield "clip", np.clip(steps.reward, -1.0, 1.0)
        if (np.abs(known) > 1e-6).all() or len(np.unique(np.sign(known))) > 1:
            yield "sign", np.sign(steps.reward)


def _scaled(steps: Steps) -> Iterator[_Try]:
    """The reward with another coefficient, or the target moved by a constant: normalised, batch by batch."""
    after, next_target, one = steps.value_after, steps.next("target"), np.ones(len(steps))
    varies = float(np.nanstd(steps.reward)) > 1e-9
    for name, columns, roles in (
        ("monte-carlo", (next_target,), ("t",)),
        ("td", (after,), ("v",)),
        ("gae", (after, next_target), ("v", "t")),
    ):
        yield _Try(name, steps.target, (steps.reward, *columns), ("r", *roles), fixed=False)
        if varies:
            yield _Try(name, steps.target, (steps.reward, one, *columns), ("r", "1", *roles), fixed=False)


def _shifted(steps: Steps) -> Iterator[_Try]:
    """A constant for each step, where rewards within episodes are all alike."""
    one, next_target = np.ones(len(steps)), steps.next("target")
    yield _Try("monte-carlo", steps.target, (one, next_target), ("1", "t"), fixed=False)
    yield _Try("gae", steps.target, (one, steps.value_after, next_target), ("1", "v", "t"), fixed=False)


def _mistakes(steps: Steps, critic: bool) -> Iterator[_Try]:
    after, next_target, value = steps.value_after, steps.next("target"), steps.value
    if critic:
        yield _Try("own-value", steps.target - value, (), (), mistake=True)
    for name, reward in (("reward-late", steps.last("reward")), ("reward-early", steps.next("reward"))):
        y = steps.target - reward
        yield _Try(name, y, (next_target,), ("t",), mistake=True)
        yield _Try(name, y, (after,), ("v",), mistake=True)
        yield _Try(name, y, (after, next_target), ("v", "t"), mistake=True)
    y = steps.target - steps.reward
    yield _Try("forwards", y, (steps.last("target"),), ("t",), mistake=True)
    if not critic:
        return
    yield _Try("own-state", y, (value,), ("v",), mistake=True)
    yield _Try("own-state", y, (value, next_target - steps.next("value")), ("v", "c"), mistake=True)
    yield _Try("forwards-gae", y, (after, steps.last("target") - steps.last("value")), ("v", "c"), mistake=True)


def _normalised(steps: Steps) -> Iterator[_Try]:
    """T = V + (A - mean) / std: advantages were normalised before the targets were made of them."""
    carried = steps.next("target") - steps.next("value")
    columns = (steps.reward, steps.value, steps.value_after, carried, np.ones(len(steps)))
    yield _Try("normalised", steps.target - steps.value, columns, ("r", "o", "v", "c", "1"), mistake=True, fixed=False)


# ── which one ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Tried:
    of: _Try
    fit: Fitted
    agree: Flags  # of all rows
    used: Flags


def _best(steps: Steps, tries: Sequence[_Try], least: float = _GOOD) -> Formula | None:
    keep = steps.plain
    if keep.sum() < ROWS:
        keep = steps.inner
    keep = keep & np.isfinite(steps.reward) & np.isfinite(steps.target)
    if keep.sum() < ROWS:
        return None
    tol = tolerance(steps.target[keep], steps.reward[keep], _known(steps.value[keep]))
    zero = (np.abs(steps.target) <= tol) & (np.abs(steps.reward) <= tol) & ~(np.abs(steps.next("target")) > tol)
    telling = keep & ~(zero & ~(np.abs(steps.value_after) > tol))  # nothing came to nothing: any formula says so
    best: _Tried | None = None
    shares: dict[str, float] = {}
    for each in tries:
        if each.mistake and best is not None and not best.of.mistake and best.fit.share > _ALL:
            break
        tried = _tried(each, telling, tol)
        if tried is not None:
            shares[each.name] = max(tried.fit.share, shares.get(each.name, 0.0))
        if tried is not None and _sound(steps, tried) and (best is None or _beats(steps, tried, best)):
            best = tried
    if best is None:
        return None
    shares.pop(best.of.name, None)
    second = max(shares.items(), key=lambda each: each[1], default=None)
    return replace(_formula(steps, best), audits=_agreeing(steps, best, least), runner_up=second)


def _tried(of: _Try, telling: Flags, tol: float) -> _Tried | None:
    used = telling & np.isfinite(of.y)
    for each in of.columns:
        used = used & np.isfinite(each)
    if used.sum() < max(ROWS, 4 * len(of.columns) + 4) or used.sum() < 0.5 * telling.sum():
        return None
    fit = robust(of.y[used], [each[used] for each in of.columns], tol)
    if not fit:
        return None
    agree = np.zeros(len(telling), dtype=bool)
    agree[used] = fit.agree
    return _Tried(of, fit, agree, used)


def _beats(steps: Steps, new: _Tried, old: _Tried) -> bool:
    """On the rows that only one of them explains. What is simpler, or right, came first and need not win those."""
    both = new.used & old.used
    more, less = int((both & new.agree & ~old.agree).sum()), int((both & old.agree & ~new.agree).sum())
    needed = max(_DECIDING if new.of.mistake else 4, 0.01 * both.sum())
    if new.of.mistake and new.fit.share < _GOOD:
        return False
    # A formula that explains hardly anything is no rival.
    return more >= needed and more >= 9 * less


def _sound(steps: Steps, tried: _Tried) -> bool:
    """Whether the coefficients can be those of such a formula, and are told by the rows at all."""
    formula = _formula(steps, tried)
    if tried.of.name == "reward":
        # Rows that nothing follows cannot tell whether it is counted.
        following = np.abs(steps.next("target")) > 20 * tried.fit.tol
        return int((tried.agree & following).sum()) >= ROWS and _varied(steps, tried.agree & following)
    if tried.of.name == "own-value":
        return float(np.std(steps.value[tried.used])) > 20 * tried.fit.tol
    if tried.of.mistake and formula.name == "normalised":
        own, reward = tried.fit.coef[1], tried.fit.coef[0]
        return abs(own + reward) < 0.02 * abs(reward) and abs(abs(reward) - 1.0) > 0.02 and tried.fit.share > 0.95
    gamma, lam = formula.gamma, formula.lam
    if gamma is None or not _spread(tried):
        return False
    if tried.of.mistake and not -0.01 < gamma < 1.02:
        return False
    return lam is None or -0.01 <= lam <= 1.01


def _spread(tried: _Tried) -> bool:
    """Whether each column varies by more than rounding: the coefficient of one that does not is anybody's guess."""
    columns = [each for each, role in zip(tried.of.columns, tried.of.roles, strict=True) if role in ("v", "t")]
    return all(float(np.std(each[tried.used])) > 10 * tried.fit.tol for each in columns)


def _varied(steps: Steps, keep: Flags) -> bool:
    return len(np.unique(np.round(steps.next("target")[keep], 6))) > 1


def _formula(steps: Steps, tried: _Tried) -> Formula:
    of, fit = tried.of, tried.fit
    coef = dict(zip(of.roles, fit.coef.tolist(), strict=True))
    on_value, on_target = coef.get("v"), coef.get("t")
    gamma = lam = None
    if of.name == "reward":
        gamma = 0.0
    elif of.name == "normalised":
        gamma = (on_value or 0.0) / (coef["r"] or 1.0)
    elif on_value is not None or on_target is not None:
        gamma = (on_value or 0.0) + (on_target or 0.0)
        if on_value is not None and on_target is not None and abs(gamma) > 1e-6:
            lam = on_target / gamma
        elif of.name == "monte-carlo":
            lam = 1.0
        elif of.name == "td":
            lam = 0.0
    return Formula(
        name=of.name,
        gamma=gamma,
        lam=lam,
        reward=coef.get("r", 1.0),
        constant=coef.get("1", 0.0),
        on_value=on_value or 0.0,
        on_target=on_target or 0.0,
        changed=of.changed,
        mistake=of.mistake,
        share=fit.share,
        rows=fit.rows,
        tol=fit.tol,
        residual=fit.rms / max(float(np.std(steps.target[tried.used])), 1e-12),
    )


def _agreeing(steps: Steps, tried: _Tried, least: float) -> int:
    """Audits in which the formula explains the rows."""
    numbers = np.unique(steps.audit[tried.used])
    return sum(tried.agree[(steps.audit == each) & tried.used].mean() >= least - 0.1 for each in numbers)


def _each_alone(steps: Steps, critic: bool) -> Formula | None:
    """Batches one by one, the largest first: two of different audits have to agree on a formula."""
    numbers, counts = np.unique(steps.batch, return_counts=True)
    found: list[Formula] = []
    order = numbers[np.argsort(-counts, kind="stable")]
    for number in order[:3]:
        part = steps.of(int(number))
        if part.plain.sum() < 2 * ROWS:
            continue
        formula = _best(part, [*_right(part), *_scaled(part), *_mistakes(part, critic)])
        if critic and (formula is None or formula.share < _GOOD):
            formula = _best(part, list(_normalised(part)))
        if formula is not None and formula.share >= _GOOD:
            found.append(formula)
    for each in found:
        alike = [one for one in found if _alike(one, each)]
        if len(alike) >= 2 and len(alike) > len(found) / 2:
            rows, share = sum(one.rows for one in alike), min(one.share for one in alike)
            return replace(each, audits=len(alike), rows=rows, share=share)
    return None


def _alike(one: Formula, other: Formula) -> bool:
    if (one.name, one.changed) != (other.name, other.changed) or (one.gamma is None) != (other.gamma is None):
        return False
    near = one.gamma is None or other.gamma is None or abs(one.gamma - other.gamma) < 0.003
    return near and (one.lam is None or other.lam is None or abs(one.lam - other.lam) < 0.01)


def _known(column: Array) -> Array:
    known = column[np.isfinite(column)]
    return known if len(known) else np.zeros(1)
