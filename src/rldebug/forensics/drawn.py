"""Drawn: the numbers that a Gaussian policy drew for the next rows of a loss, and the log-density of each element.

As a distribution was asked for it; or, where the density is written out by hand, worked out again from the mean and the
deviation that the policy gave and the action that a critic was then asked about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.acting_values import is_output

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_SIZES = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)  # that squashed actions are stretched to
_FLAT = 0.99  # share of that beyond which the number before a tanh is not known well enough
_WIDEST = 32


@dataclass(frozen=True, eq=False)
class Drawn:
    """Of each row and element; NaN where it is not known."""

    logp: Array
    number: Array  # before it is squashed, if it is
    by_hand: bool  # worked out again
    squashed: bool  # if worked out again: as if the action were the tanh of the number

    def corrected(self) -> tuple[Array, Array]:
        """The log-prob of the squashed action, in the two usual ways to write it, by element."""
        return self.logp - np.log(1.0 - np.tanh(self.number) ** 2 + 1e-6), self.logp - slope(self.number)


def slope(number: Array) -> Array:
    """log(1 − tanh²), as it is written where it must not become log 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(2.0 * (np.log(2.0) - number - np.logaddexp(0.0, -2.0 * number)))


def drawn_before(audit: Audit, term: Event, count: int) -> Iterator[Drawn]:
    """For as many rows as the loss has, without a graph, in the same update."""
    said = list(_said(audit, term, count))
    yield from said if said else by_hand(audit, term, count)


def by_hand(audit: Audit, term: Event, count: int) -> list[Drawn]:
    """Worked out again. Calls without gradients first: where there are some, those with are the actor's loss."""
    return list(_by_hand(audit, term, count, False)) or list(_by_hand(audit, term, count, True))


def asked_about(audit: Audit, term: Event, count: int, size: int) -> Iterator[Array]:
    """What critics may have been asked about before a loss: inputs of their own, or the end of the first one."""
    for event in audit.calls:
        given = event.arrays.get("input1", event.arrays.get("input"))
        if given is None or given.ndim != 2 or given.shape[1] < size or event.get("acting"):
            continue
        for block in _blocks(event, len(given), term)[-2:]:
            if int(block.sum()) == count:
                yield given[block, -size:].astype(np.float64)


def _said(audit: Audit, term: Event, count: int) -> Iterator[Drawn]:
    for event in audit.of("logp"):
        result, value = event.arrays.get("result"), event.arrays.get("value")
        if result is None or value is None or event.get("attached") or len(value) != len(result):
            continue
        if event.get("dist") not in ("Normal", "Independent"):
            continue
        for block in _blocks(event, len(result), term)[-1:]:
            if int(block.sum()) == count:
                numbers = result[block].astype(np.float64).reshape(count, -1)
                yield Drawn(numbers, value[block].astype(np.float64).reshape(count, -1), False, False)


def _blocks(event: Event, rows: int, term: Event) -> list[Flags]:
    """The rows of each call that was made before the loss, in its update."""
    orders, updates = event.arrays.get("orders"), event.arrays.get("updates")
    if orders is None or updates is None or len(orders) != rows:
        orders, updates = np.full(rows, event.order), np.full(rows, event.update)
    return [orders == each for each in np.unique(orders[(orders < term.order) & (updates == term.update)])]


def _by_hand(audit: Audit, term: Event, count: int, grad: bool) -> Iterator[Drawn]:
    actors = list(_actors(audit, term, count, grad))
    for event in audit.calls if actors else ():
        given = event.arrays.get("input")
        if given is None or bool(event.get("grad")) != grad:
            continue
        for block in _blocks(event, len(given), term)[-1:]:
            for seen, mean, spread in actors if int(block.sum()) == count else ():
                action = _action(event, block, seen, mean.shape[1])
                if action is not None:
                    yield from _densities(action, mean, spread)
                    return


def _actors(audit: Audit, term: Event, count: int, grad: bool) -> Iterator[tuple[Array, Array, Array]]:
    """Calls that gave two columns for each element: input, mean, and what the deviation is made of."""
    for event in audit.calls:
        given, rows = event.arrays.get("input"), event.arrays.get("rows")
        if given is None or rows is None or bool(event.get("grad")) != grad:
            continue
        names = [name for name, each in event.arrays.items() if is_output(name, each, len(rows))]
        for block in _blocks(event, len(rows), term)[-1:]:
            if int(block.sum()) != count:
                continue
            outputs = [event.arrays[name][block].astype(np.float64).reshape(count, -1) for name in names]
            if len(outputs) == 1 and outputs[0].shape[1] % 2 == 0:
                outputs = np.split(outputs[0], 2, axis=1)
            if len(outputs) == 2 and outputs[0].shape == outputs[1].shape and outputs[0].shape[1] <= _WIDEST:
                yield given[block].astype(np.float64), outputs[0], outputs[1]


def _action(event: Event, block: Flags, seen: Array, size: int) -> Array | None:
    """What a critic was asked about, beside the observations that the actor saw."""
    other, given = event.arrays.get("input1"), event.arrays["input"][block].astype(np.float64)
    if other is not None and len(other) == len(block) and given.shape == seen.shape:
        action = other[block].astype(np.float64).reshape(len(given), -1)
        return action if action.shape[1] == size and np.allclose(given, seen, atol=1e-5) else None
    if given.shape[1] == seen.shape[1] + size:
        for at, action in ((slice(0, -size), given[:, -size:]), (slice(size, None), given[:, :size])):
            if np.allclose(given[:, at], seen, atol=1e-5):
                return action
    return None


def _densities(action: Array, mean: Array, spread: Array) -> Iterator[Drawn]:
    size = next((each for each in _SIZES if np.abs(action).max() <= each), None)
    with np.errstate(all="ignore"):
        deviations = [np.exp(spread), np.logaddexp(0.0, spread), *([spread] if spread.min() > 0 else [])]
        share = np.where(np.abs(action) < _FLAT * (size or np.inf), action / (size or 1.0), np.nan)
        numbers = [(np.arctanh(share), True), *([(action, False)] if size is None or size > 1.0 else [])]
        for number, squashed in numbers:
            for deviation in deviations:
                logp = -0.5 * ((number - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2.0 * np.pi)
                yield Drawn(logp, number, True, squashed)
