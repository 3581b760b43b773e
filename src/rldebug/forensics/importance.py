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


@dataclass(frozen=True, eq=False)
class _Batch:
    audit: int
    term: Event
    weight: NDArray[np.float64]
    errors: tuple[NDArray[np.float64], ...]
    goal: NDArray[np.float64]  # the value that is learned


@lru_cache(maxsize=8)
def importance(script: Script) -> tuple[Weighted, ...]:
    """Batches whose rows are weighted as a prioritised replay does: up to 1, and 1 is there.

    Priorities may be made of one of several errors, which may order rows differently: a wide distribution to be learned
    has a large cross-entropy, however well it is met. What the weights go along with most, up or down, is what they
    were made of. Where that is no error at all but the value of a row, as its return, nothing is said.
    """
    kinds: dict[int, list[_Batch]] = {}
    for audit, term in script.events("term"):
        each = _batch(audit.number, term)
        if each is not None:
            kinds.setdefault(len(each.errors), []).append(each)
    found: list[Weighted] = []
    for several in kinds.values():
        agreed = [[ranked(each.weight, error) for error in each.errors] for each in several]
        best = int(np.argmax(np.abs(np.mean(agreed, axis=0))))
        valued = float(np.mean([ranked(each.weight, each.goal) for each in several]))
        if abs(valued) > abs(float(np.mean([each[best] for each in agreed]))):
            continue
        found += [Weighted(each.audit, each.weight, each.errors[best], one[best], each.term.where)
                  for each, one in zip(several, agreed, strict=True)]  # fmt: skip
    return tuple(found)


def _batch(audit: int, term: Event) -> _Batch | None:
    weight = term.arrays.get("weight")
    if weight is None or np.size(weight) < _ROWS:
        return None
    flat = np.ravel(weight).astype(np.float64)
    errors = errors_of(term, len(flat))
    if not errors or not np.isfinite(flat).all() or flat.min() <= 0 or abs(float(flat.max()) - 1.0) > 1e-4:
        return None
    if len(np.unique(np.round(flat, 6))) < _VALUES or float(flat.std()) < _SPREAD:
        return None
    if min(float(each.std()) for each in errors) < 1e-9 or not np.isfinite(errors).all():
        return None
    return _Batch(audit, term, flat, errors, _goal(term, errors[0]))


def errors_of(term: Event, count: int) -> tuple[NDArray[np.float64], ...]:
    """How far the prediction of each row is off: of a number; or of a distribution, where there are several measures,
    the cross-entropy first, the divergence, and the distance of the means, whatever the values of the atoms."""
    target, prediction = term.arrays.get("target"), term.arrays.get("prediction")
    difference = term.arrays.get("difference")
    if target is None or prediction is None or np.shape(target) != np.shape(prediction):
        if difference is not None and np.size(difference) == count and term["kind"] == "regression":
            return (np.abs(np.ravel(difference).astype(np.float64)),)
        return ()
    if term["kind"] == "regression" and np.size(target) == count and "index" in term.arrays:
        return (np.abs(np.ravel(target).astype(np.float64) - np.ravel(prediction).astype(np.float64)),)
    if not (np.ndim(target) == 2 and len(target) == count and np.shape(target)[1] > 4) or term["kind"] == "regression":
        return ()
    mass, said = np.asarray(target, dtype=np.float64), np.asarray(prediction, dtype=np.float64)
    if mass.min() < -1e-6:
        return ()
    # A distribution over returns, and the logarithm of the predicted one.
    log = said if said.max() <= 1e-6 else np.log(np.maximum(said, 1e-8))
    crossed = -(mass * log).sum(axis=1)
    diverged = np.maximum(crossed + (mass * np.log(np.maximum(mass, 1e-12))).sum(axis=1), 0.0)
    return crossed, diverged, np.abs(((mass - np.exp(log)) * np.arange(mass.shape[1])).sum(axis=1))


def _goal(term: Event, error: NDArray[np.float64]) -> NDArray[np.float64]:
    target = term.arrays.get("target")
    if target is None:
        return np.zeros(len(error))
    values = np.asarray(target, dtype=np.float64)
    return np.ravel(values) if np.size(values) == len(error) else np.asarray(values @ np.arange(values.shape[1]))


def ranked(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    ranks = [_ranks(np.round(each, 7)) for each in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1]) if min(float(each.std()) for each in ranks) > 0 else 0.0


def _ranks(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equal ones share the rank in their middle: new rows have one priority, and may lie in the order of their age."""
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2.0
    return np.asarray(middle[np.ravel(places)], dtype=np.float64)
