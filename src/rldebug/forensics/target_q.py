"""Which formula the targets of Q-learning follow: T = r + γ f(next), f made of what networks said of the next rows.

What there is to choose from is found by target_next; the formula is the one that explains the rows where they differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.robust_fit import Array, Fitted, robust, tolerance
from rldebug.forensics.target_atoms import distributional
from rldebug.forensics.target_calls import with_rows
from rldebug.forensics.target_formula import QFormula, of_free, of_several
from rldebug.forensics.target_free import free_formula
from rldebug.forensics.target_next import Batch, batch_of
from rldebug.forensics.target_odd import displaced, of_the_batch
from rldebug.forensics.target_q_ends import (
    at_ends,
    cut_perhaps,
    entropy_at_ends,
    lost_at_ends,
    opposed_at_ends,
    reset_at_ends,
)
from rldebug.forensics.target_quantiles import of_quantiles
from rldebug.forensics.target_repeated import repeated
from rldebug.forensics.target_rows import Flags, Site, sited, where_of
from rldebug.forensics.target_settings import told
from rldebug.forensics.target_soft import soft
from rldebug.forensics.target_steps import several_steps, too_near
from rldebug.forensics.target_tried import Tried, as_tried, beats
from rldebug.forensics.target_twins import World, world_of

_ROWS = 24
_GOOD = 0.9
_FAIR = 0.5  # enough to know γ, where the reward is changed on the way
_TERMS = 40  # of one site
_PER_AUDIT = 5


def q_formulas(script: Script, without: Container[Site] = ()) -> list[QFormula]:
    """Of each regression whose formula was found; `without`: those that are explained already."""
    terms: dict[Site, list[tuple[Audit, Event]]] = {}
    for audit in script.audits:
        here: Counter[Site] = Counter()
        for site, term in sited(audit, "regression"):
            here[site] += 1
            if site not in without and here[site] <= _PER_AUDIT:
                terms.setdefault(site, []).append((audit, with_rows(audit, term)))
    terms.update(distributional(script))
    terms.update(of_quantiles(script))
    found: list[QFormula] = []
    for site, several in terms.items():
        formula = _of_site(script, several)
        if formula is not None:
            found.append(_placed(formula, site, where_of([term for _, term in several])))
    return found


def _of_site(script: Script, terms: Sequence[tuple[Audit, Event]]) -> QFormula | None:
    world = world_of(script)
    batches = _batches(world, terms, _all_over(len(terms)))
    formula = fit_batches(batches) if batches else None
    if len(terms) > _TERMS and not _ends_told(formula):  # what goes wrong later may hide it
        early = _batches(world, terms, range(len(terms)))
        first = fit_batches(early) if early else None
        if formula is None or _ends_told(first):
            batches, formula = early, first
    if not any("index" in term.arrays for _, term in terms):
        return formula
    if formula is not None:
        if any(each.kind == "terminated" for each in formula.endings) or formula.mistake:
            return formula
        # Rows that cannot be traced may tell how ends are treated: goals that were exchanged are reached more often.
        # They are told by the rewards of the environment, which are not those of the targets where these are scaled.
        plain = not formula.changed and abs(formula.reward - 1.0) <= 1e-3
        free = free_formula(world, terms) if plain else None
        if free is None or free.name != formula.name or abs(free.gamma - formula.gamma) > 1e-3:
            return formula
        return replace(formula, endings=(*formula.endings, *of_free(free).endings))
    several = several_steps(world, terms)
    if several is not None:
        return of_several(several, told(script, "discount"))
    near = too_near(world, terms)
    if near is not None:
        return replace(of_several(near, None), mistake="near", endings=(), crossed=(0, 0))
    free = free_formula(world, terms)
    if free is None and not script.streams:
        return repeated(script, terms)
    return None if free is None else of_free(free)


def _ends_told(formula: QFormula | None) -> bool:
    return formula is not None and any(each.kind == "terminated" for each in formula.endings)


def _batches(world: World, terms: Sequence[tuple[Audit, Event]], order: Iterable[int]) -> list[Batch]:
    chosen: dict[int, Batch] = {}
    for place in order:
        batch = batch_of(*terms[place], world) if len(chosen) < _TERMS else None
        if batch is not None:
            chosen[place] = batch
    return [chosen[place] for place in sorted(chosen)]


def _all_over(count: int) -> list[int]:
    """Places in an order of which each beginning is spread evenly: early on, hardly any episode may have ended."""
    return sorted(range(count), key=lambda place: place * 0.6180339887 % 1.0)


def _placed(formula: QFormula, site: Site, where: Where) -> QFormula:
    return QFormula(**{**vars(formula), "site": site, "where": where})


# ── fits ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def fit_batches(batches: Sequence[Batch]) -> QFormula | None:
    names = _common([each.f for each in batches])
    if not names:
        return None
    target, reward = _joined(batches, "target"), _joined(batches, "reward")
    known, terminated, truncated = (_joined_flags(batches, name) for name in ("known", "terminated", "truncated"))
    audit = np.concatenate([np.full(len(each.target), each.audit) for each in batches])
    f = {name: np.concatenate([_or_nan(each.f.get(name), each) for each in batches]) for name in names}
    inner = known & ~terminated & ~truncated & np.isfinite(reward)
    if inner.sum() < _ROWS:
        return None
    tol = tolerance(target[inner], reward[inner], target[inner])
    best = _best(target, reward, inner, f, tol)
    if best is None or best.fit.share < _GOOD:
        best = soft(batches, target, reward, inner, f, tol) or best
    if best is None or best.fit.share < _GOOD:
        best = _entry(batches, target, reward, inner, f, tol) or best
    if best is None or best.fit.share < _GOOD:
        several = of_the_batch(batches)
        odd = _best(target, reward, inner, several, tol) if several else None
        if odd is not None and odd.mistake and odd.fit.share >= _GOOD and 0.3 < odd.gamma < 1.02:
            best = odd
            f.update(several)
    if best is None or best.fit.share < _GOOD:
        elsewhere = _displaced(batches, target, reward, inner, f, audit, tol)
        if elsewhere is not None:
            return elsewhere
    if best is None or best.fit.share < _FAIR:
        return None
    best = _scaled_rather(best, target, reward, inner, f, known & terminated, tol)
    changed = best.reward * _changed(reward, best.changed)
    boot = f.get(best.name, np.zeros(len(target)))
    stored = _stored(target, reward, best.gamma, boot, known & ~truncated, terminated, best, tol)
    if best.changed == "whole":
        stored = "whole"
    if best.fit.share < _GOOD and not stored:
        return None
    rest = np.zeros(len(target))
    if best.entropy is not None:
        rest = best.entropy * f[best.logp]
    ends = at_ends(target, changed, best.gamma * boot + rest, known, terminated, truncated, audit, tol)
    ends += entropy_at_ends(target, changed, best.gamma * boot, rest, known & terminated, audit, tol)
    plain = not best.changed and best.entropy is None
    lost = lost_at_ends(target, reward, inner, known & terminated, audit, tol) if plain else ()
    if lost:  # most ends may be paid nothing, and those look right
        ends = (*(each for each in ends if each.kind != "terminated"), *lost)
    elif plain and not any(each.kind == "terminated" for each in ends):
        ends += opposed_at_ends(target, reward, known & terminated, audit, tol)
    perhaps = np.concatenate(
        [np.zeros(len(each.target), bool) if each.perhaps is None else each.perhaps for each in batches]
    )
    if perhaps.any() and best.name != "reward" and not any(each.kind == "truncated" for each in ends):
        ends += cut_perhaps(target, changed, best.gamma * boot + rest, inner, perhaps, audit, tol)
    mistake = best.mistake
    if best.name == "reward":
        mistake = _inverted(target, changed, f, known & terminated, tol)
    agreeing = [np.mean(best.agree[(audit == each) & best.used]) for each in np.unique(audit[best.used])]
    reset = np.concatenate([each.reset for each in batches])
    ends += reset_at_ends(reset, target, changed, best.gamma * boot, known & truncated, audit, tol)
    return QFormula(
        name=best.name,
        gamma=best.gamma,
        reward=best.reward,
        changed=best.changed,
        share=best.fit.share,
        rows=best.fit.rows,
        audits=int(sum(each >= _FAIR for each in agreeing)),
        entropy=best.entropy,
        mistake=mistake,
        endings=ends,
        stored=stored,
    )


def _scaled_rather(
    best: Tried, target: Array, reward: Array, inner: Flags, f: dict[str, Array], ended: Flags, tol: float
) -> Tried:
    """Where all steps but the last of an episode pay the same, only the last tell a reward that is scaled from one that
    is cut off."""
    usual = float(np.median(reward[inner]))
    if not best.changed or best.reward != 1.0 or not usual or np.abs(reward[inner] - usual).max() > 1e-6 * abs(usual):
        return best
    scale = float(_changed(np.array([usual]), best.changed)[0]) / usual
    boot = best.gamma * np.nan_to_num(f.get(best.name, np.zeros(len(target))))
    told = ended & np.isfinite(reward)

    def hits(paid: Array) -> int:
        off = np.minimum(np.abs(target - paid), np.abs(target - paid - boot))
        return int((told & (off <= 3.0 * tol)).sum())

    return (
        replace(best, changed="", reward=scale) if hits(scale * reward) > hits(_changed(reward, best.changed)) else best
    )


def _displaced(
    batches: Sequence[Batch],
    target: Array,
    reward: Array,
    inner: Flags,
    f: dict[str, Array],
    audit: NDArray[np.int64],
    tol: float,
) -> QFormula | None:
    """The reward of a neighbouring step."""
    for name, column, used in displaced(batches, reward, inner, tol):
        found = _best(target, np.nan_to_num(column), used, f, tol)
        if found is None or found.mistake or found.fit.share < _GOOD or found.reward != 1.0 or found.name == "reward":
            continue
        audits = len(np.unique(audit[found.agree]))
        return QFormula(found.name, found.gamma, 1.0, "", found.fit.share, found.fit.rows, audits, mistake=name)
    return None


def _common(several: Sequence[Mapping[str, Array]]) -> list[str]:
    """Names that most of the batches have; a batch may have lost a call."""
    counts = Counter(name for each in several for name in each)
    return [name for name, count in counts.items() if count >= 0.6 * len(several)]


def _or_nan(column: Array | None, batch: Batch) -> Array:
    return np.full(len(batch.target), np.nan) if column is None else column


def _entry(
    batches: Sequence[Batch], target: Array, reward: Array, inner: Flags, f: dict[str, Array], tol: float
) -> Tried | None:
    """One action's value in each row, whichever it is: of the next action, of the best that is allowed."""
    y = target - reward
    for module in _common([each.entries for each in batches]):
        width = max(each.entries[module].shape[1] for each in batches if module in each.entries)
        parts = [each.entries.get(module, np.full((len(each.target), width), np.nan)) for each in batches]
        if any(each.shape[1] != width for each in parts):
            continue
        table = np.concatenate(parts)
        used = inner & np.isfinite(table).all(axis=1) & (np.abs(table) > 50 * tol).all(axis=1)
        if used.sum() < 2 * _ROWS or float(np.ptp(table[used], axis=1).mean()) < 100 * tol:
            continue
        rows, values = y[used], table[used]
        ratios = (rows[:24, None] / values[:24]).ravel()
        ratios = ratios[(ratios > 0.3) & (ratios < 1.02)]
        if not len(ratios):
            continue
        hits = [(np.abs(rows[:, None] - each * values).min(axis=1) <= 3 * tol).mean() for each in ratios]
        gamma = float(ratios[int(np.argmax(hits))])
        for _ in range(3):
            nearest = values[np.arange(len(rows)), np.abs(rows[:, None] - gamma * values).argmin(axis=1)]
            fit = robust(rows, [nearest], tol)
            gamma = float(fit.coef[-1]) if fit else gamma
        if fit and fit.share >= _GOOD and 0.3 < gamma < 1.02:
            name = f"an action of {module}"
            f[name] = table[
                np.arange(len(y)), np.nan_to_num(np.abs(y[:, None] - gamma * table), nan=np.inf).argmin(axis=1)
            ]
            return as_tried(name, "", fit, used, None)
    return None


def _joined(batches: Sequence[Batch], name: str) -> Array:
    return np.concatenate([getattr(each, name) for each in batches])


def _joined_flags(batches: Sequence[Batch], name: str) -> Flags:
    return np.concatenate([getattr(each, name) for each in batches])


def _changed(reward: Array, how: str) -> Array:
    if how == "whole":
        return np.trunc(reward)
    return np.clip(reward, -1.0, 1.0) if how == "clip" else np.sign(reward) if how == "sign" else reward


def _best(target: Array, reward: Array, inner: Flags, f: dict[str, Array], tol: float) -> Tried | None:
    best: Tried | None = None
    for tried in _tries(target, reward, inner, f, tol):
        if best is not None and best.fit.share > 0.998 and not best.mistake:
            break
        if best is None or beats(tried, best):
            best = tried
    return best


def _tries(target: Array, reward: Array, inner: Flags, f: dict[str, Array], tol: float) -> Iterator[Tried]:
    plain = {name: each for name, each in f.items() if not name.startswith("logp")}
    spread = next(iter(plain.values()), np.zeros(len(target)))
    felt = inner & (np.abs(spread) > 50 * tol)  # rows that can tell whether anything was added
    if felt.sum() >= _ROWS:
        fit = robust((target - reward)[felt], [], tol)
        yield as_tried("reward", "", fit, felt, None)
    ways = ["", *(["clip", "sign"] if np.abs(reward[inner]).max() > 1.0 else [])]
    if (np.abs(reward[inner] - np.rint(reward[inner])) > 1e-3).mean() > 0.5 and np.trunc(reward[inner]).any():
        ways.append("whole")  # kept in whole numbers
    for changed in ways:
        y = target - _changed(reward, changed)
        for name, each in plain.items():
            used = inner & np.isfinite(each)
            if used.sum() >= max(_ROWS, 0.5 * inner.sum()):
                yield as_tried(name, changed, robust(y[used], [each[used]], tol), used, None)
    if np.std(reward[inner]) > 1e-9 or np.abs(reward[inner]).max() > 1e-9:
        for name, each in plain.items():
            used = inner & np.isfinite(each)
            if used.sum() >= max(_ROWS, 0.5 * inner.sum()):
                fit = robust(target[used], [reward[used], each[used]], tol)
                if fit and len(fit.coef) == 2 and not (name.startswith("own-") and _no_reward(fit, reward[used], tol)):
                    yield as_tried(name, "", fit, used, None, float(fit.coef[0]))


def _no_reward(fit: Fitted, reward: Array, tol: float) -> bool:
    """A value that is held to the action values of its own state: no step of the environment is in it."""
    return abs(float(fit.coef[0])) * float(np.sqrt(np.mean(reward**2))) <= 10.0 * tol


# ── what became of the reward ────────────────────────────────────────────────────────────────────────────────────────


def _inverted(target: Array, reward: Array, f: dict[str, Array], ended: Flags, tol: float) -> str:
    """Nothing is added within episodes; whether it is at their ends."""
    for name, each in f.items():
        used = ended & np.isfinite(each)
        if name.startswith(("logp", "own-")) or used.sum() < 6:
            continue
        fit = robust((target - reward)[used], [each[used]], tol)
        if fit and fit.share >= _GOOD and 0.3 < float(fit.coef[-1]) < 1.02 and np.abs(each[used]).min() > 10 * tol:
            return "inverted"
    return ""


def _stored(
    target: Array, reward: Array, gamma: float, boot: Array, known: Flags, done: Flags, best: Tried, tol: float
) -> str:
    """What the reward has become on its way into the target, where it is one of the usual accidents of storing it."""
    if best.changed or best.reward != 1.0 or best.entropy is not None:
        return ""
    implied = target - gamma * np.where(done, 0.0, np.nan_to_num(boot))
    off = implied - reward
    wrong = known & np.isfinite(reward) & (np.abs(off) > 20.0 * tol)
    if wrong.sum() < 8:
        return ""
    near = max(50.0 * tol, 1e-3)
    whole = np.abs(reward[known] - np.rint(reward[known])).max() < 1e-6
    if whole and (reward[wrong] < 0).mean() > _GOOD and (np.abs(off[wrong] - 256.0) < near).mean() > _GOOD:
        return "bytes"
    lost = np.abs(implied[wrong] - np.trunc(reward[wrong])) < near
    if not whole and lost.mean() > _GOOD and (np.abs(reward[wrong] - np.rint(reward[wrong])) > 10 * near).mean() > 0.5:
        return "whole"
    return ""
