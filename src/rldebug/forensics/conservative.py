"""Values of actions that were not taken, in the losses of critics: whether they are pushed down, or up.

Conservative Q-learning adds logsumexp(Q) − Q(a) to the error of the prediction. Its gradient is known whatever form it
is written in: at each action a factor times the softmax of the values. The factor is the same in all rows, and its sign
says which way values go of which the data says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.passes import Output, Pass, Push, passes_of

Array = NDArray[np.float64]

_EXACT = 2e-3  # relative, of gradients in single precision
_ROWS = 8
_HALVINGS = 24


@dataclass(frozen=True, eq=False)
class Untaken:
    """One backward pass in which values of actions that were not taken are pushed, by what they themselves are."""

    audit: Audit
    update: int
    loss: Event
    module: str
    factor: float  # positive where values are pushed down
    rows: int


@lru_cache(maxsize=8)
def untaken(script: Script) -> tuple[Untaken, ...]:
    return tuple(each for one in passes_of(script) for each in _of_pass(one))


def _of_pass(one: Pass) -> Iterator[Untaken]:
    loss, terms = _loss_of(one)
    if loss is None:
        return
    for term in terms:
        prediction, chosen = term.arrays.get("prediction"), term.arrays.get("index")
        if term["kind"] != "regression" or prediction is None or len(prediction) < _ROWS:
            continue
        said = np.ravel(prediction).astype(np.float64)
        factors: dict[tuple[str, int], list[float]] = {}
        if chosen is not None:
            for push in one.pushes:
                factor = _by_action(push, np.ravel(chosen).astype(np.int64), said)
                if factor is not None:
                    factors.setdefault((push.module, push.output.place), []).append(factor)
        else:
            for key in {(push.module, push.output.place) for push in one.pushes if _predicts(push.output, said)}:
                asked = [
                    each
                    for each in one.pushes
                    if (each.module, each.output.place) == key and not _predicts(each.output, said)
                ]
                factor = _by_question(asked)
                if factor is not None:
                    factors.setdefault(key, []).append(factor)
        for (module, _), found in factors.items():
            if len({np.sign(each) for each in found}) == 1:
                yield Untaken(one.audit, one.pushes[0].output.update, loss, module, found[0], len(said))


def _loss_of(one: Pass) -> tuple[Event | None, list[Event]]:
    """The last loss before the pass, with its terms, with nothing stepped in between."""
    stepped = max((each.order for each in one.audit.of("step") if each.order < one.order), default=-1)
    before = [(loss, terms) for loss, terms in one.audit.losses if stepped < loss.order < one.order]
    return before[-1] if before else (None, [])


def _predicts(output: Output, said: Array) -> bool:
    return output.values.shape == (len(said), 1) and np.array_equal(output.values[:, 0], said)


def _by_action(push: Push, chosen: NDArray[np.int64], said: Array) -> float | None:
    """Of a network that values all actions at once: what the other actions' are pushed by, over their softmax."""
    values, gradient = push.output.values, push.gradient
    count, wide = values.shape
    if len(chosen) != count or wide < 2 or chosen.min() < 0 or chosen.max() >= wide:
        return None
    rows = np.arange(count)
    if not np.allclose(values[rows, chosen], said, rtol=1e-5, atol=1e-6) or not np.isfinite(values).all():
        return None
    others = np.ones_like(values, dtype=bool)
    others[rows, chosen] = False
    pushed = gradient[others]
    if not (pushed != 0).any() or not ((pushed >= 0).all() or (pushed <= 0).all()):
        return None
    near = others & (np.abs(gradient) > 1e-4 * np.abs(pushed).max())
    if near.sum() < _ROWS or not _told(values, gradient, near):
        return None
    return _factor(values, gradient, near, 1.0) or _factor(values, gradient, near, _slope(values, gradient, near))


def _told(values: Array, gradient: Array, near: NDArray[np.bool_]) -> bool:
    """Whether the pushes differ: where all are the same, any values explain them."""
    return bool(np.log(np.abs(gradient[near])).std() > 10 * _EXACT)


def _softmax(values: Array, slope: float) -> Array:
    shifted = np.exp(slope * (values - values.max(axis=1, keepdims=True)))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _factor(values: Array, gradient: Array, near: NDArray[np.bool_], slope: float) -> float | None:
    chance = _softmax(values, slope)[near]
    if chance.min() <= 0:
        return None
    factor = float(np.median(gradient[near] / chance))
    return factor if (np.abs(gradient[near] - factor * chance) <= _EXACT * abs(factor) * chance).all() else None


def _slope(values: Array, gradient: Array, near: NDArray[np.bool_]) -> float:
    """One over the temperature: with which the pushes are most nearly the softmax of the values."""
    size = np.log(np.abs(gradient[near]))

    def off(power: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = float(np.std(size - np.log(_softmax(values, 10.0**power)[near])))
        return spread if np.isfinite(spread) else np.inf

    grid = np.linspace(-2.0, 2.0, 33)
    best = int(np.argmin([off(each) for each in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    for _ in range(_HALVINGS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if off(one) < off(two) else (one, high)
    return float(10.0 ** ((low + high) / 2))


def _by_question(asked: list[Push]) -> float | None:
    """Of a critic that is asked about several actions in the same state: what these are pushed by in all."""
    asked = [each for each in asked if each.gradient.shape[1] == 1 and len(each.output.rows) == len(each.gradient)]
    if not asked or all(any(one.get("attached") for one in each.output.event.get("inputs") or ()) for each in asked):
        return None  # an actor learns from it
    ids = np.concatenate([each.output.rows for each in asked])
    gradient = np.concatenate([each.gradient[:, 0] for each in asked])
    if (ids < 0).any() or not ((gradient >= 0).all() or (gradient <= 0).all()):
        return None
    states, places, counts = np.unique(ids, return_inverse=True, return_counts=True)
    alike = counts == np.bincount(counts).argmax()  # a state that was drawn twice was asked about twice as often
    if alike.sum() < _ROWS or counts[alike][0] < 2:
        return None
    sums = np.bincount(places, weights=gradient, minlength=len(states))[alike]
    mean = float(sums.mean())
    least = np.full(len(states), np.inf)
    np.minimum.at(least, places, np.abs(gradient))
    even = np.abs(sums) / counts[alike] - least[alike] < 1e-3 * np.abs(sums)
    # Each state by as much in all, and within a state some actions by more than others: a softmax.
    return mean if mean and (np.abs(sums - mean) <= _EXACT * abs(mean)).all() and not even.all() else None
