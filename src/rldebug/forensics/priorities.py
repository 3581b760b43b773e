"""Priorities: what a prioritised replay makes of the errors of its rows, read off the weights.

A weight is a power of the priority, and the priority a power of the last error of the row, up to a factor for the
batch: log weight = c − αβ log error. A row that is drawn twice within an audit shows its error the first time and its
weight the second. Where such rows lie on one line, the line says which error any other weight stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.importance import errors_of, ranked

Array = NDArray[np.float64]

_AGAIN = 5  # rows of a batch that were drawn before
_LINE = 2e-3  # of the logarithm of a weight
_POINTS = 40
_BEGUN = 20  # updates
_SIGNS = 150  # rows
_EXPECTED = 20.0  # of them, where signs make no difference


@dataclass(frozen=True, eq=False)
class Again:
    """Rows of one batch that were drawn earlier in the audit: their errors then, and their weights now."""

    audit: Audit
    term: Event
    error: Array
    weight: Array
    slope: float  # −αβ where most lie on one line; NaN where they do not
    new: float  # the error that the weight of new rows stands for; NaN where it is not known
    errors: Array  # of all rows now
    below: NDArray[np.bool_]  # of those that were drawn earlier: the target lay below the prediction


@lru_cache(maxsize=8)
def drawn_again(script: Script) -> tuple[Again, ...]:
    """By the error that priorities are made of, where there are several measures of it: the one that lies on lines most
    often, else the one that weights go along with most."""
    tried = [tuple(each for audit in script.audits for each in _of_audit(audit, measure)) for measure in range(3)]
    return max(tried, key=lambda several: (sum(np.isfinite(each.slope) for each in several), _together(several)))


def _together(several: Sequence[Again]) -> float:
    found = [ranked(each.error, each.weight) for each in several]
    return abs(float(np.mean(found))) if found else -1.0


def _of_audit(audit: Audit, measure: int) -> Iterator[Again]:
    nodes, last, signs, before = audit.nodes, dict[int, float](), dict[int, bool](), None
    for term in audit.of("term"):
        weight = term.arrays.get("weight")
        rows = term.arrays.get("rows")
        if weight is None or rows is None or np.size(weight) != len(rows) or not len(nodes):
            continue
        flat = np.ravel(weight).astype(np.float64)
        errors = errors_of(term, len(flat))
        if len(errors) <= measure or not (np.isfinite(flat).all() and flat.min() > 0 and np.isfinite(errors).all()):
            continue
        error = errors[measure]
        if before is not None and term.update > before + 1:
            last.clear()  # what was learned in between was not seen
        before = term.update
        places = nodes.index(rows)
        sure = (places >= 0) & (nodes.alike[places] == 0)
        again = [place for place in np.flatnonzero(sure).tolist() if last.get(int(rows[place]), 0.0) > 0]
        if len(again) >= _AGAIN:
            then = np.array([last[int(rows[place])] for place in again])
            slope, height = _line(np.log(then), np.log(flat[again]))
            fresh = np.array([place not in again and sure[place] for place in range(len(rows))], dtype=bool)
            # Those of before learning began have the priority of then.
            fresh &= nodes.update[places] >= _BEGUN
            new = _new(np.log(flat), nodes.call[places], fresh, slope, height)
            below = np.array([signs[int(rows[place])] for place in again], dtype=bool)
            yield Again(audit, term, then, flat[again], slope, new, error, below)
        last.update((int(rows[place]), float(error[place])) for place in np.flatnonzero(sure).tolist())
        under = _below(term, len(rows))
        signs.update((int(rows[place]), bool(under[place])) for place in np.flatnonzero(sure).tolist())


def _below(term: Event, count: int) -> NDArray[np.bool_]:
    target, prediction = term.arrays.get("target"), term.arrays.get("prediction")
    if target is None or prediction is None or not np.size(target) == np.size(prediction) == count:
        return np.zeros(count, dtype=bool)
    return np.asarray(np.ravel(target) < np.ravel(prediction))


def left_out(again: Sequence[Again]) -> tuple[float, float] | None:
    """The share of one sign among large errors, and among the errors of rows that are drawn again; of the sign that
    is missing more. Rows with large errors are drawn again soon, whatever their sign."""
    if not again:
        return None
    errors = np.concatenate([each.errors for each in again])
    below = np.concatenate([_below(each.term, len(each.errors)) for each in again])
    large, soon = below[errors > np.median(errors)], np.concatenate([each.below for each in again])
    if len(soon) < _SIGNS:
        return None
    one = float(large.mean()), float(soon.mean())
    one = one if one[1] < one[0] else (1.0 - one[0], 1.0 - one[1])
    return one if len(soon) * one[0] >= _EXPECTED else None


def _line(x: Array, y: Array) -> tuple[float, float]:
    """Slope and height of the line that most points lie on; NaN where there is none."""
    x, y = x[:_POINTS], y[:_POINTS]
    run = x[:, None] - x[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(np.abs(run) > 0.1, (y[:, None] - y[None, :]) / run, np.nan)
    best, count = (np.nan, np.nan), 0
    for one in range(len(x)):
        tried = slopes[one][np.isfinite(slopes[one])]
        if not len(tried):
            continue
        slope = float(np.median(tried))
        on = np.abs(y - y[one] - slope * (x - x[one])) < _LINE
        if on.sum() > count and float(np.ptp(x[on])) > 0.3:
            best, count = (slope, float(y[one] - slope * x[one])), int(on.sum())
    return best if count >= max(_AGAIN, 0.6 * len(x)) else (np.nan, np.nan)


def _new(weight: Array, call: NDArray[np.int64], fresh: NDArray[np.bool_], slope: float, height: float) -> float:
    """Rows that were never drawn have one priority in common: some of the newest have one weight."""
    if not slope < -0.02 or fresh.sum() < 3:
        return float("nan")
    values, counts = np.unique(np.round(weight[fresh], 6), return_counts=True)
    for value in values[np.argsort(-counts)][:2]:
        tied = fresh & (np.abs(weight - value) < 2e-6)
        others = fresh & ~tied
        if tied.sum() >= 3 and (not others.any() or np.median(call[tied]) > np.median(call[others])):
            return float(np.exp((value - height) / slope))
    return float("nan")
