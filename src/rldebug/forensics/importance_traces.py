"""Importance weights of V-trace targets, read off the targets themselves.

    T − V = ρ · (r + γ V' − V + γ (T' − V'))     where both weights are cut off at the same bound

Steps that were as likely under either policy, or more likely now, have ρ = 1 where weights are clipped: they pile up
there, which also tells γ. The other weights are then known one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.targets import fit_targets

Array = NDArray[np.float64]

_GAMMAS = (0.9, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.999, 1.0)
_ROWS = 64
_PILE = 0.1  # share of the weights that are 1
_ALL = 0.9  # share of the targets that follow a formula without weights


@dataclass(frozen=True, eq=False)
class Trace:
    gamma: float
    piled: int  # steps whose weight is 1
    weights: Array  # of the others
    audits: int
    where: Where


@lru_cache(maxsize=8)
def trace_of(script: Script) -> Trace | None:
    parts: list[tuple[int, Array, Array, Array, Array]] = []
    where = None
    for audit in script.audits:
        for term in audit.terms("regression"):
            found = _pairs(audit, term)
            if found is not None:
                parts.append((audit.number, *found))
                where = where or term.where
    if not parts or where is None:
        return None
    if any(each.what == "value" and not each.mistake and each.share >= _ALL for each in fit_targets(script)):
        return None  # nearly all targets are known to be made without weights
    reward, own, target, target_after = (np.concatenate([each[at] for each in parts]) for at in range(1, 5))
    best: tuple[int, float, Array] | None = None
    for gamma in _GAMMAS:
        whole = reward + gamma * target_after - own
        # A step without an error tells no weight.
        keep = np.abs(whole) > 1e-2 * (np.median(np.abs(whole)) + np.abs(own))
        weights = (target - own)[keep] / whole[keep]
        piled = int((np.abs(weights - 1.0) < 2e-4).sum())
        if best is None or piled > best[0]:
            best = (piled, gamma, weights)
    if best is None or len(best[2]) < _ROWS or best[0] < _PILE * len(best[2]):
        return None
    rest = best[2][np.abs(best[2] - 1.0) >= 2e-3]
    return Trace(best[1], best[0], rest, len({number for number, *_ in parts}), where)


def _pairs(audit: Audit, term: Event) -> tuple[Array, Array, Array, Array] | None:
    """Reward, value, target and next target of the steps of a loss that another one of it follows."""
    rows, made, target = (term.arrays.get(name) for name in ("rows", "prediction", "target"))
    if rows is None or made is None or target is None or "index" in term.arrays or not len(audit.nodes):
        return None
    made, target = np.ravel(made).astype(np.float64), np.ravel(target).astype(np.float64)
    if len(made) != len(rows) or len(target) != len(rows):
        return None
    nodes = audit.nodes
    places = nodes.index(rows)
    safe = np.where(places >= 0, places, 0)
    known = (places >= 0) & nodes.acted[safe] & ~nodes.phantom[safe] & (nodes.alike[safe] == 0)
    known &= ~(nodes.terminated[safe] | nodes.truncated[safe])
    where = {int(row): at for at, row in enumerate(rows) if row >= 0}
    follow = np.array([where.get(int(each), -1) for each in nodes.nxt[safe]])
    keep = known & (follow >= 0) & np.isfinite(target) & np.isfinite(nodes.reward[safe])
    if keep.sum() < 8:
        return None
    then = follow[keep]
    return nodes.reward[safe][keep], made[keep], target[keep], target[then]
