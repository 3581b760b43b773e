"""Distributions over returns: their targets as numbers, so that formulas can be fitted to them as to any other.

A projected distribution has the mean of what was projected, as long as nothing falls off the ends of the support. Means
are in units of atoms first. What an atom is worth, and where the support begins, follows from the rewards: in units of
atoms T = c·r + γ·f + constant, with 1/c between two atoms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.robust_fit import Array, Fitted, robust, tolerance
from rldebug.forensics.target_next import chances, said_before
from rldebug.forensics.target_projection import moved
from rldebug.forensics.target_rows import Flags, Site, site_of
from rldebug.forensics.target_steps import Window, count_of, window_of
from rldebug.forensics.target_twins import World, world_of

_ROWS = 48
_GOOD = 0.9
_FAIR = 0.75  # rows that a time limit struck cannot be told from others
_PER_AUDIT = 5
_TERMS = 48
_TRIED = 64  # rows that tell whether it is worth looking at all
_ENDS = 6  # rows at which an episode ended


def distributional(script: Script) -> Iterator[tuple[Site, list[tuple[Audit, Event]]]]:
    """Terms of each place in the program that learns a distribution, as regressions of its mean."""
    found: dict[Site, list[tuple[Audit, Event]]] = {}
    for audit in script.audits:
        here: Counter[Site] = Counter()
        for _, terms in audit.losses:
            for number, term in enumerate(terms):
                made = _as_regression(term)
                site = site_of(term, number)
                here[site] += made is not None
                if made is not None and here[site] <= _PER_AUDIT:
                    found.setdefault(site, []).append((audit, made))
    for site, bounded in found.items():
        several = _unbounded(bounded)
        units = _told(script, int(several[0][1]["atoms"][0])) or _units(world_of(script), several)
        if units is not None:
            several = [(audit, _in_units(term, *units)) for audit, term in several]
        yield site, several


def _as_regression(term: Event) -> Event | None:
    target, index, rows = (term.arrays.get(name) for name in ("target", "index", "rows"))
    if term["kind"] != "classification" or term.get("op") != "soft-cross-entropy":
        return None
    if target is None or index is None or rows is None or target.ndim != 2 or target.shape[1] < 5:
        return None
    if len(target) != len(rows) or np.size(index) != len(rows) or np.abs(target.sum(axis=1) - 1.0).max() > 1e-3:
        return None
    atoms = target.shape[1]
    mean = target.astype(np.float64) @ np.arange(atoms)
    arrays = {"rows": rows, "index": index, "target": mean, "distribution": target.astype(np.float64)}
    detail = {**term.detail, "kind": "regression", "atoms": [atoms, 1.0, 0.0], "units": False}
    return replace(term, detail=detail, arrays=arrays)


def _unbounded(terms: Sequence[tuple[Audit, Event]]) -> list[tuple[Audit, Event]]:
    """With the means that targets would have if the support had no end, where it is seen what they were made from."""
    sources = [dict(_next_distributions(audit, term)) for audit, term in terms]
    names = Counter(name for each in sources for name in each)
    best: tuple[float, dict[int, Array]] | None = None
    for name in [name for name, count in names.items() if count >= 0.6 * len(terms)]:
        held = [place for place, each in enumerate(sources) if name in each]
        before = np.concatenate([sources[place][name] for place in held])
        after = np.concatenate([terms[place][1].arrays["distribution"] for place in held])
        trial = slice(None, None, max(1, len(after) // _TRIED))
        if moved(before[trial], after[trial]).exact.mean() < _FAIR:
            continue
        found = moved(before, after)
        if best is None or found.exact.mean() > best[0]:
            ends = np.cumsum([len(sources[place][name]) for place in held])[:-1]
            best = (float(found.exact.mean()), dict(zip(held, np.split(found.mean, ends), strict=True)))
    if best is None:
        return list(terms)
    return [
        (audit, replace(term, arrays={**term.arrays, "target": best[1].get(place, term.arrays["target"])}))
        for place, (audit, term) in enumerate(terms)
    ]


def _next_distributions(audit: Audit, term: Event) -> Iterator[tuple[str, Array]]:
    """What a target may be made from: of each network the distribution of the best action, by itself or another."""
    asked: dict[str, Array] = {}
    atoms, bare = int(term["atoms"][0]), replace(term, detail={**term.detail, "atoms": None})
    for one in said_before(audit, bare):
        chance = chances(one.output, atoms) if len(one.rows) == len(term.arrays["rows"]) else None
        if chance is not None and np.isfinite(chance).all():
            asked[one.module] = chance
    best = {module: (chance @ np.arange(atoms)).argmax(axis=1) for module, chance in asked.items()}
    for module, chance in asked.items():
        for other, chosen in best.items():
            if asked[other].shape == chance.shape:
                yield f"{module} by {other}", chance[np.arange(len(chance)), chosen]


def _in_units(term: Event, step: float, first: float) -> Event:
    atoms = term["atoms"][0]
    target = first + step * term.arrays["target"]
    return replace(
        term,
        detail={**term.detail, "atoms": [atoms, step, first], "units": True},
        arrays={**term.arrays, "target": target},
    )


def _told(script: Script, atoms: int) -> tuple[float, float] | None:
    """The same as `_units`, where the program holds just one row of that many evenly spaced numbers."""
    rows = {(float(note["first"]), float(note["last"])) for note in script.noted("support") if note["count"] == atoms}
    if len(rows) != 1:
        return None
    first, last = rows.pop()
    return (last - first) / (atoms - 1), first


def _units(world: World, terms: Sequence[tuple[Audit, Event]]) -> tuple[float, float] | None:
    """What an atom is worth, and the first of them."""
    n = count_of(world, terms) or 1
    spread = terms[:: -(-len(terms) // _TERMS)]  # what is paid at ends is seen late
    windows = [each for audit, term in spread if (each := window_of(world, audit, term, n)) is not None]
    names = Counter(name for each in windows for name in each.f)
    best: tuple[float, float, float] | None = None
    for name in [name for name, count in names.items() if count >= 0.6 * len(windows)]:
        rows = _Rows.of(windows, name, n)
        found = _from_rewards(rows, n) or _from_ends(rows, n)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    return None if best is None else best[1:]


@dataclass(frozen=True, eq=False)
class _Rows:
    target: Array
    f: Array
    rewards: Array  # (rows, n)
    inner: Flags  # no end within the window
    ended: Flags  # a true end

    @classmethod
    def of(cls, windows: Sequence[Window], name: str, n: int) -> _Rows:
        target = np.concatenate([each.target for each in windows])
        f = np.concatenate([each.f.get(name, np.full(len(each.target), np.nan)) for each in windows])
        rewards = np.concatenate([each.steps.rewards for each in windows])
        inner = np.concatenate([each.rows(n) for each in windows]) & np.isfinite(f)
        ended = np.concatenate([each.steps.known & each.steps.terminated for each in windows])
        return cls(target, f, rewards, inner, ended)


def _bootstrapped(rows: _Rows) -> tuple[Fitted, list[int]] | None:
    """T = Σ cₖ rₖ + g f + constant, within episodes. Rewards that are always alike are part of the constant."""
    kept, rewards = rows.inner, rows.rewards[rows.inner]
    if kept.sum() < _ROWS:
        return None
    vary = [k for k in range(rewards.shape[1]) if np.count_nonzero(np.abs(rewards[:, k] - rewards[0, k]) > 1e-9) >= 4]
    columns = [*rewards[:, vary].T, rows.f[kept], np.ones(int(kept.sum()))]
    fit = robust(rows.target[kept], columns, 2.0 * tolerance(rows.target[kept], rows.f[kept]))
    if not fit or fit.share < _FAIR or not 0.2 < float(fit.coef[-2]) < 0.9995:
        return None
    return fit, vary


def _from_rewards(rows: _Rows, n: int) -> tuple[float, float, float] | None:
    """Within episodes, where a reward differs from row to row. That of the first step needs no γ."""
    found = _bootstrapped(rows)
    if found is None or not found[1]:
        return None
    fit, vary = found
    g, constant = float(fit.coef[-2]), float(fit.coef[-1])
    powers = g ** (np.arange(n) / n)
    c = float(fit.coef[0]) / powers[vary[0]]
    always = sum(powers[k] * float(np.median(rows.rewards[rows.inner, k])) for k in range(n) if k not in vary)
    return (fit.share, 1.0 / c, (always - constant / c) / (1.0 - g)) if c > 1e-6 else None


def _from_ends(rows: _Rows, n: int) -> tuple[float, float, float] | None:
    """Where rewards hardly differ within episodes, what is paid at their ends tells: T = c R + g f + h (1 - g)."""
    found = _bootstrapped(rows)
    if found is None or rows.ended.sum() < _ENDS:
        return None
    g = float(found[0].coef[-2])
    best: tuple[float, float, float] | None = None
    for stops in (True, False):  # at ends nothing is added, or it is by mistake
        kept = rows.inner | (rows.ended & (stops | np.isfinite(rows.f)))
        total = np.nan_to_num(rows.rewards[kept]) @ (g ** (np.arange(n) / n))
        going_on = np.where(rows.ended & stops, 0.0, g)[kept]
        boot = going_on * np.nan_to_num(rows.f[kept])
        tol = 2.0 * tolerance(rows.target[kept], np.nan_to_num(rows.f[kept]))
        if np.std(total) < 1e-9:
            continue
        fit = robust(rows.target[kept] - boot, [total, 1.0 - going_on], tol)
        ended = rows.ended[kept]
        if not fit or fit.share < _FAIR or fit.agree[ended].mean() < _GOOD or fit.agree[ended].sum() < _ENDS:
            continue
        c, h = float(fit.coef[0]), float(fit.coef[1])
        if c > 1e-6 and (best is None or fit.share > best[0]):
            best = (fit.share, 1.0 / c, -h / c)
    return best
