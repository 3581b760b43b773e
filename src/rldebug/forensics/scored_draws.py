"""Numbers that a Gaussian is asked the log-prob of, beside those that it drew: at once, or later in a loss.

A batch of a loss comes long after the draws. As long as the policy has not moved, mean and deviation of each number are
those that it was drawn with, down to rounding, and hardly any other number has the same two: they say which draw it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script

_SAME = 3e-6  # by which mean and deviation may differ: a batch is computed in another order than a single row
_OTHER = 3e-5  # within which there may be no other draw
_KINDS = ("Normal", "Independent")  # the first alone, or around it

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scored:
    """Of one event of log-probs, all numbers whose draw is known."""

    audit: Audit
    event: Event
    value: Array
    drawn: Array
    column: NDArray[np.int64]  # which number of an action it is
    learned: bool  # a loss is made of it


@lru_cache(maxsize=8)
def scored_draws(script: Script) -> tuple[Scored, ...]:
    found = []
    for audit in script.audits:
        draws = {kind: each for kind in _KINDS if (each := _draws(audit, kind)) is not None}
        for event in audit.of("logp"):
            one = _scored(audit, event, *draws[event["dist"]]) if event.get("dist") in draws else None
            if one is not None:
                found.append(one)
    return tuple(found)


def _draws(audit: Audit, kind: str) -> tuple[Array, Array] | None:
    """Mean and deviation of all draws of an audit, by the mean; and what was drawn."""
    by: list[Array] = []
    results: list[Array] = []
    for event in audit.of("sample"):
        told = _elements(event, "result") if event.get("dist") == kind else None
        if told is not None:
            by.append(told[0])
            results.append(told[1])
    if not by:
        return None
    params, result = np.concatenate(by), np.concatenate(results)
    order = np.argsort(params[:, 0], kind="stable")
    return params[order], result[order]


def _elements(event: Event, name: str) -> tuple[Array, Array] | None:
    """Mean and deviation of each number, and the number."""
    array, params = event.arrays.get(name), event.arrays.get("params")
    if list(event.get("params") or ()) != ["loc", "scale"] or not set(event.get("inner") or ()) <= set(_KINDS):
        return None
    if array is None or params is None or params.size != 2 * array.size:
        return None
    loc, scale = np.split(params.reshape(len(array), -1).astype(np.float64), 2, axis=1)
    return np.stack([loc.ravel(), scale.ravel()], axis=1), np.ravel(array).astype(np.float64)


def _scored(audit: Audit, event: Event, params: Array, result: Array) -> Scored | None:
    told = _elements(event, "value")
    if told is None:
        return None
    asked, value = told
    width = int((event.get("value_shape") or [1])[-1]) if len(event.get("value_shape") or ()) else 1
    column = np.arange(len(value)) % max(width, 1)
    size = 1.0 + np.abs(asked[:, 0])
    low = np.searchsorted(params[:, 0], asked[:, 0] - _OTHER * size)
    high = np.searchsorted(params[:, 0], asked[:, 0] + _OTHER * size)
    at, known = np.zeros(len(value), dtype=np.int64), high == low + 1
    at[known] = low[known]
    known &= (np.abs(params[at] - asked) <= _SAME * (1.0 + np.abs(asked))).all(axis=1)
    if not known.any():
        return None
    return Scored(audit, event, value[known], result[at[known]], column[known], any(event.get("made") or ()))
