"""Mass that a projection of distributions over returns loses: targets beside what they should have been.

What the next state's distribution becomes is known where reward, discount and support are: each atom is moved, held
within the support, and shared out between its two neighbours. A target that lies below that everywhere, and not by one
factor for the whole row, was made of the same distribution, and a part of it was dropped or written over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_next import chances, said_before
from rldebug.forensics.target_projection import put_back
from rldebug.forensics.target_rows import Flags, Ints
from rldebug.forensics.target_settings import told as setting
from rldebug.forensics.target_twins import told, world_of

_TERMS = 48
_GAMMAS = (0.8, 0.85, 0.9, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.995, 0.997, 0.999)
_SLACK = 2e-4  # of chance: how far a number may lie above
_LOST = 1e-3  # of a row, from which on some is missing
_UNEVEN = 0.05  # by which atoms are lowered more than others: else the row is weighed


@dataclass(frozen=True, eq=False)
class Projected:
    """Rows whose proper target is known."""

    gamma: float
    sums: Array
    below: Flags  # nowhere above the proper target
    uneven: Flags
    audits: int
    where: Where


@lru_cache(maxsize=4)
def projected(script: Script) -> Projected | None:
    rows = list(_rows(script))
    if not rows:
        return None
    known = setting(script, "discount")
    best: Projected | None = None
    for name in {each.name for each in rows}:
        mine = [each for each in rows if each.name == name]
        for gamma in dict.fromkeys([*([known] if known is not None else []), *_GAMMAS]):
            found = _with(mine, gamma)
            if best is None or found.below.mean() > best.below.mean():
                best = found
    return best


@dataclass(frozen=True, eq=False)
class _Rows:
    name: str
    before: Array
    after: Array
    reward: Array
    first: float
    step: float
    audit: int
    where: Where


def _rows(script: Script) -> Iterator[_Rows]:
    supports = {int(note["count"]): (float(note["first"]), float(note["last"])) for note in script.noted("support")}
    world = world_of(script)
    terms = [(audit, term) for audit in script.audits for _, each in audit.losses for term in each if _suits(term)]
    for audit, term in terms[:: max(1, -(-len(terms) // _TERMS))]:
        atoms = term.arrays["target"].shape[1]
        if atoms not in supports:
            continue
        first, last = supports[atoms]
        ids, taken = term.arrays["rows"], np.ravel(term.arrays["index"]).astype(np.float64)
        for name, seen, before in _next(audit, term, atoms):
            steps = told(world, ids, taken, world.looks(seen))
            kept = steps.known & ~steps.terminated & ~steps.truncated & np.isfinite(steps.rewards[:, 0])
            if kept.any():
                after = term.arrays["target"].astype(np.float64)[kept]
                step = (last - first) / (atoms - 1)
                yield _Rows(name, before[kept], after, steps.rewards[kept, 0], first, step, audit.number, term.where)


def _suits(term: Event) -> bool:
    target, index, rows = (term.arrays.get(name) for name in ("target", "index", "rows"))
    if term["kind"] != "classification" or term.get("op") != "soft-cross-entropy":
        return False
    if target is None or index is None or rows is None or target.ndim != 2 or target.shape[1] < 5:
        return False
    return (
        len(target) == len(rows) == np.size(index) and bool(np.isfinite(target).all()) and float(target.min()) > -1e-6
    )


def _next(audit: Audit, term: Event, atoms: int) -> Iterator[tuple[str, Ints, Array]]:
    """Of each network that was asked, the distribution of the action that it, or another one, thinks best."""
    bare = replace(term, detail={**term.detail, "atoms": None})
    asked = {}
    for one in said_before(audit, bare):
        chance = chances(one.output, atoms) if len(one.rows) == len(term.arrays["rows"]) else None
        if chance is not None and np.isfinite(chance).all():
            asked[one.module] = (one.rows, chance)
    for module, (rows, chance) in asked.items():
        for other, (_, theirs) in asked.items():
            if theirs.shape == chance.shape:
                chosen = (theirs @ np.arange(atoms)).argmax(axis=1)
                yield f"{module} by {other}", rows, chance[np.arange(len(chance)), chosen]


def _with(rows: list[_Rows], gamma: float) -> Projected:
    below, uneven, sums = [], [], []
    for each in rows:
        shift = (each.reward + (gamma - 1.0) * each.first) / each.step
        proper = put_back(each.before, shift, np.full(len(shift), gamma))
        below.append((each.after <= proper + _SLACK).all(axis=1))
        large = proper > 0.01
        ratio = np.where(large, each.after / np.maximum(proper, 0.01), np.nan)
        uneven.append(np.nanmax(ratio, axis=1) - np.nanmin(ratio, axis=1) > _UNEVEN)
        sums.append(each.after.sum(axis=1))
    audits = len({each.audit for each in rows})
    where = next((each.where for each in rows if each.where.line is not None), rows[0].where)
    return Projected(gamma, np.concatenate(sums), np.concatenate(below), np.concatenate(uneven), audits, where)


def lost(found: Projected) -> Flags:
    return np.asarray(found.sums < 1.0 - _LOST)
