"""Distributions over returns: their targets as numbers, so that formulas can be fitted to them as to any other.

A projected distribution has the mean of what was projected, as long as nothing falls off the ends of the support. Means
are in units of atoms first. What an atom is worth, and where the support begins, follows from the rewards: in units of
atoms T = c·r + γ·f + constant, with 1/c between two atoms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.robust_fit import robust, tolerance
from rldebug.forensics.target_rows import Site, site_of
from rldebug.forensics.target_steps import count_of, window_of
from rldebug.forensics.target_twins import World, world_of

_ROWS = 48
_GOOD = 0.9
_PER_AUDIT = 5
_TERMS = 24


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
    for site, several in found.items():
        units = _units(world_of(script), several[:_TERMS])
        if units is not None:
            yield site, [(audit, _in_units(term, *units)) for audit, term in several]


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
    detail = {**term.detail, "kind": "regression", "atoms": [atoms, 1.0, 0.0]}
    return replace(term, detail=detail, arrays={"rows": rows, "index": index, "target": mean})


def _in_units(term: Event, step: float, first: float) -> Event:
    atoms = term["atoms"][0]
    target = first + step * term.arrays["target"]
    return replace(
        term, detail={**term.detail, "atoms": [atoms, step, first]}, arrays={**term.arrays, "target": target}
    )


def _units(world: World, terms: Sequence[tuple[Audit, Event]]) -> tuple[float, float] | None:
    """What an atom is worth, and the first of them."""
    n = count_of(world, terms) or 1
    windows = [each for audit, term in terms if (each := window_of(world, audit, term, n)) is not None]
    names = Counter(name for each in windows for name in each.f)
    best: tuple[float, float, float] | None = None
    for name in [name for name, count in names.items() if count >= 0.6 * len(windows)]:
        target = np.concatenate([each.target for each in windows])
        f = np.concatenate([each.f.get(name, np.full(len(each.target), np.nan)) for each in windows])
        rewards = np.concatenate([each.steps.rewards for each in windows])
        kept = np.concatenate([each.rows(n) for each in windows]) & np.isfinite(f)
        if kept.sum() < _ROWS or not (np.std(rewards[kept], axis=0) > 1e-9).all():
            continue
        columns = [*rewards[kept].T, f[kept], np.ones(int(kept.sum()))]
        fit = robust(target[kept], columns, 2.0 * tolerance(target[kept], f[kept]))
        if not fit or fit.share < _GOOD or (best is not None and fit.share <= best[0]):
            continue
        c, g, constant = float(fit.coef[0]), float(fit.coef[-2]), float(fit.coef[-1])
        if c > 1e-6 and 0.2 < g < 0.9995:
            best = (fit.share, 1.0 / c, -constant / c / (1.0 - g))
    return None if best is None else best[1:]
