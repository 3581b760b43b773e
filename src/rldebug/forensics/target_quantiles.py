"""Quantiles of returns: each of several predictions of a row is held against each of several targets of it.

The mean of a row's targets follows the formula of an ordinary target, with means of what was bootstrapped from. So such
a term is made into a regression of means; what networks said is made into means too, one for each action.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_rows import Site, places_of, sited

_PER_AUDIT = 5
_FEWEST = 4


def of_quantiles(script: Script) -> Iterator[tuple[Site, list[tuple[Audit, Event]]]]:
    """Terms of each place in the program that learns quantiles of the actions that were taken."""
    found: dict[Site, list[tuple[Audit, Event]]] = {}
    for audit in script.audits:
        here: Counter[Site] = Counter()
        for site, term in sited(audit, "regression"):
            made = _as_regression(audit, term)
            here[site] += made is not None
            if made is not None and here[site] <= _PER_AUDIT:
                found.setdefault(site, []).append((audit, made))
    yield from found.items()


def _as_regression(audit: Audit, term: Event) -> Event | None:
    spread, rows = term.arrays.get("spread"), term.arrays.get("rows")
    if spread is None or rows is None or spread.ndim != 2:
        return None
    count = len(spread)
    shape = (term.get("shapes") or {}).get("prediction") or []
    if count < _FEWEST or not shape or len(rows) != shape[0] or not len(audit.nodes):
        return None
    predicted = max(int(each) for each in shape[1:])
    ids = rows[:count]
    places = places_of(audit.nodes, ids)
    # Which action it was is told by the environment: the index of the loss comes once for each pair.
    action = np.where(places >= 0, audit.nodes.action[places, 0], np.nan)
    if "index" not in term.arrays and not _whole(action):  # of (rows, actions, quantiles) each row's may be picked
        return None
    detail = {**term.detail, "quantiles": [len(rows), predicted]}
    arrays = {"rows": ids, "index": np.nan_to_num(action), "target": spread.astype(np.float64).mean(axis=1)}
    return replace(term, detail=detail, arrays=arrays)


def _whole(action: Array) -> bool:
    """Actions are numbers of a list, not thrusts and angles."""
    known = action[np.isfinite(action)]
    return bool(len(known) >= _FEWEST and known.min() >= 0 and (known == np.rint(known)).all() and np.ptp(known) > 0)


def means_of(matrix: Array, shape: Any, quantiles: int) -> Array:
    """Of quantiles for each action their means; as it is where that is what it is not."""
    if matrix.shape[1] <= quantiles or matrix.shape[1] % quantiles:
        return matrix
    wide = [int(each) for each in shape or ()][1:]
    if len(wide) == 2 and wide[0] == quantiles != wide[1]:
        return np.asarray(matrix.reshape(len(matrix), quantiles, -1).mean(axis=1))
    return np.asarray(matrix.reshape(len(matrix), -1, quantiles).mean(axis=2))
