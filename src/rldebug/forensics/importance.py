"""Importance: the weights of a prioritised replay, batch by batch, beside the errors of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Where

_ROWS = 12
_VALUES = 5  # different weights in a batch
_SPREAD = 0.02


@dataclass(frozen=True, eq=False)
class Weighted:
    """One batch."""

    audit: int
    weight: NDArray[np.float64]
    error: NDArray[np.float64]  # without its sign
    agreement: float  # rank correlation of the two
    where: Where


@lru_cache(maxsize=8)
def importance(script: Script) -> tuple[Weighted, ...]:
    """Batches whose rows are weighted as a prioritised replay does: up to 1, and 1 is there."""
    found = []
    for audit, term in script.events("term"):
        weight = term.arrays.get("weight")
        if weight is None or np.size(weight) < _ROWS:
            continue
        flat = np.ravel(weight).astype(np.float64)
        error = error_of(term, len(flat))
        if error is None or not np.isfinite(flat).all() or flat.min() <= 0 or abs(float(flat.max()) - 1.0) > 1e-4:
            continue
        if len(np.unique(np.round(flat, 6))) < _VALUES or float(flat.std()) < _SPREAD or float(error.std()) < 1e-9:
            continue
        found.append(Weighted(audit.number, flat, error, _ranked(flat, error), term.where))
    return tuple(found)


def error_of(term: Event, count: int) -> NDArray[np.float64] | None:
    """How far the prediction of each row is off: of a number, or of a distribution."""
    target, prediction = term.arrays.get("target"), term.arrays.get("prediction")
    difference = term.arrays.get("difference")
    if target is None or prediction is None or np.shape(target) != np.shape(prediction):
        if difference is not None and np.size(difference) == count and term["kind"] == "regression":
            return np.abs(np.ravel(difference).astype(np.float64))
        return None
    if term["kind"] == "regression" and np.size(target) == count and "index" in term.arrays:
        return np.abs(np.ravel(target).astype(np.float64) - np.ravel(prediction).astype(np.float64))
    if np.ndim(target) == 2 and len(target) == count and np.shape(target)[1] > 4 and target.min() >= -1e-6:
        # A distribution over returns, and the logarithm of the predicted one.
        log = prediction if prediction.max() <= 1e-6 else np.log(np.maximum(prediction, 1e-8))
        return np.asarray(-(target * log).sum(axis=1), dtype=np.float64)
    return None


def _ranked(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    ranks = [np.argsort(np.argsort(np.round(each, 7), kind="stable"), kind="stable").astype(float)
             for each in (one, other)]  # fmt: skip
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
