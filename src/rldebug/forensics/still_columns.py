"""Still columns: numbers of the input that change with the steps of the environment, and not from a row to its next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.forensics.goal_rows import Pair, alike, keys_of, pairs

Array = NDArray[np.floating[Any]]

_ROWS = 256
_SELDOM = 0.02  # of the steps change it
_OFTEN = 0.3  # of the steps change one of them
_VALUES = 5  # different ones


@dataclass(frozen=True, eq=False)
class Still:
    columns: NDArray[np.int64]  # of the input
    width: int
    rows: int
    often: float  # share of steps that change one of them
    term: Event


def still_columns(script: Script) -> Still | None:
    """None where it cannot be told. No columns where all that should change do."""
    width = max((each.nodes.obs.shape[1] for each in script.audits if len(each.nodes)), default=0)
    same = alike(script, width) if width else None
    if same is None:
        return None
    found = list(pairs(script, len(same)))
    rows = sum(len(own) for _, _, own, _ in found)
    if rows < _ROWS or len({audit.number for audit, _, _, _ in found}) < 3:
        return None
    stays, moves = np.ones(len(same), dtype=bool), False
    for _, _, own, after in found:
        stays &= (own == after).all(axis=0)
        moves |= not np.array_equal(own, after)
    before, led = _steps(script, width)
    if not moves or not len(before):
        return None
    # Of all that a column may be, what changes least.
    often = (before != led).mean(axis=0)
    least = np.where(same, often, np.inf).argmin(axis=1)
    still = np.flatnonzero(stays & same.any(axis=1) & (often[least] > _SELDOM))
    rate = float((before[:, least[still]] != led[:, least[still]]).any(axis=1).mean()) if len(still) else 0.0
    values = max(len(np.unique(own[:, still], axis=0)) for _, _, own, _ in found) if len(still) else 0
    others = np.setdiff1d(np.flatnonzero(same.any(axis=1)), still)
    if len(still) and not _followed(found, before[:, least[others]], led[:, least[others]], others):
        return None
    return Still(still if rate >= _OFTEN and values >= _VALUES else still[:0], len(same), rows, rate, found[0][1])


def _followed(found: Sequence[Pair], before: Array, led: Array, columns: NDArray[np.int64]) -> bool:
    """By the other columns, rows are steps of the environment: what they are compared with is what comes next."""
    if not len(columns):
        return False
    known = set(keys_of(before, led))
    hits = [key in known for _, _, own, after in found for key in keys_of(own[:, columns], after[:, columns])]
    return sum(hits) >= max(_ROWS // 4, 0.1 * len(hits))


def _steps(script: Script, width: int) -> tuple[Array, Array]:
    """Observations, and what the steps from them led to."""
    parts = []
    for audit in script.audits:
        nodes = audit.nodes
        if not len(nodes) or nodes.obs.shape[1] != width:
            continue
        led = nodes.index(nodes.nxt)
        good = nodes.acted & ~nodes.phantom & (led >= 0) & np.isfinite(nodes.obs).all(axis=1)
        good &= np.isfinite(nodes.obs[led]).all(axis=1)
        parts.append((nodes.obs[good], nodes.obs[led[good]]))
    if not parts:
        return np.empty((0, width)), np.empty((0, width))
    before, after = (np.concatenate(each) for each in zip(*parts, strict=True))
    return before, after
