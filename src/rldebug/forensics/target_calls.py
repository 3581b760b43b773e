"""Rows of a loss that its first layer does not tell: they are those of the call that made the prediction.

A network may cut its input into parts first, frames or objects, so that the first layer sees more rows than there are.
Or the first layer sees an action beside what nobody was handed: an observation that was normalised on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Audit, Event
from rldebug.forensics.sequence_windows import windows

_FEWEST = 8
_ALL = 0.98


def traced(audit: Audit, term: Event, beside: Sequence[Event]) -> Event:
    """The term with a row for each of its numbers, where the network was given more rows, or others, than are learned
    from: sequences that were padded, batches that were masked, observations that another network had normalised. The
    terms of one loss are of the same rows."""
    column = term.arrays.get("prediction" if term["kind"] == "regression" else "weight")
    rows = term.arrays.get("rows")
    if column is None or rows is None or np.size(column) < _FEWEST:
        return term
    if len(rows) == np.size(column) and (rows >= 0).mean() > 0.5:
        return term
    for each in (term, *beside):
        predicted = each.arrays.get("prediction")
        if each["kind"] == "regression" and predicted is not None and np.size(predicted) == np.size(column):
            found = _by_value(audit, each, np.ravel(predicted).astype(np.float64))
            if found is not None:
                return replace(term, arrays={**term.arrays, "rows": found})
    return term


def _by_value(audit: Audit, term: Event, said: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The rows of a call among whose answers all predictions are."""
    if np.ptp(said) < 1e-6:
        return None
    for event in audit.calls:
        ids = event.arrays.get("rows")
        if ids is None or not event["grad"] or event.order > term.order or not (ids >= 0).any():
            continue
        orders = event.arrays.get("orders")
        orders = np.full(len(ids), event.order) if orders is None or len(orders) != len(ids) else orders
        for order in np.unique(orders[orders < term.order])[-2:]:
            block = orders == order
            for output in _outputs(event):
                if len(output) == len(ids) and output[0].size == 1:
                    found = _places(output[block].ravel().astype(np.float64), said)
                    if found is not None:
                        return np.asarray(np.where(found >= 0, ids[block][found], UNKNOWN))
    return None


def _places(answers: NDArray[np.float64], said: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Where each number is among the answers; -1 where it is there twice. None where some are not."""
    order = np.argsort(answers, kind="stable")
    ranked = answers[order]
    near = 1e-6 * (1.0 + np.abs(said))
    first = np.searchsorted(ranked, said - near)
    last = np.searchsorted(ranked, said + near, side="right")
    if len(answers) < len(said) or (last > first).mean() < _ALL:
        return None
    return np.where(last - first == 1, order[np.minimum(first, len(order) - 1)], UNKNOWN)


def with_rows(audit: Audit, term: Event) -> Event:
    """The term, with the rows of the call whose outputs hold its predictions, where its own are not known."""
    rows, prediction, index = (term.arrays.get(name) for name in ("rows", "prediction", "index"))
    if prediction is None or (index is not None and np.size(index) != np.size(prediction)):
        return term
    count = int(np.size(prediction))
    if count < 4 or (rows is not None and len(rows) == count and (rows >= 0).mean() > 0.5):
        return term
    said = np.ravel(prediction).astype(np.float64)
    taken = np.zeros(count, dtype=np.int64) if index is None else np.ravel(index).astype(np.int64)
    if taken.min() < 0 or (index is None and np.ptp(said) < 1e-6):
        return term
    for event in audit.calls:
        ids = event.arrays.get("rows")
        if ids is None or not event["grad"] or event.order > term.order:
            continue
        orders = event.arrays.get("orders")
        orders = np.full(len(ids), event.order) if orders is None or len(orders) != len(ids) else orders
        outputs = [each for each in _outputs(event) if len(each) == len(ids)]
        for order in np.unique(orders[orders < term.order])[-4:]:
            block = orders == order
            if int(block.sum()) == count and (ids[block] >= 0).mean() > 0.5:
                if any(_holds(each[block].reshape(count, -1), said, taken, index is None) for each in outputs):
                    return replace(term, arrays={**term.arrays, "rows": ids[block]})
            elif int(block.sum()) > count and index is not None:
                part = _part(event, ids[block], [each[block] for each in outputs], said, taken)
                if part is not None:
                    return replace(term, arrays={**term.arrays, "rows": part})
    return term


def _part(
    event: Event, ids: NDArray[np.int64], outputs: Sequence[NDArray[np.float64]], said: NDArray[np.float64],
    taken: NDArray[np.int64],
) -> NDArray[np.int64] | None:  # fmt: skip
    """The rows of sequences of which some steps are learned from."""
    for told, output in zip(event.get("outputs") or (), outputs, strict=False):
        for places in windows(told.get("shape") or (), len(ids), len(said)):
            if (ids[places] >= 0).any() and _holds(output.reshape(len(ids), -1)[places], said, taken, False):
                return ids[places]
    return None


def _outputs(event: Event) -> list[NDArray[np.float64]]:
    return [event.arrays[name] for name in ("output0", "output1", "output2", "output3") if name in event.arrays]


def _holds(output: NDArray[np.float64], said: NDArray[np.float64], taken: NDArray[np.int64], any_column: bool) -> bool:
    """Whether these are the predictions: those of the actions taken, or a column of few."""
    if any_column and output.shape[1] <= 8:
        return any(np.allclose(column, said, 1e-4, 1e-6) for column in output.T)
    if any_column or int(taken.max()) >= output.shape[1]:
        return False
    return np.allclose(output[np.arange(len(said)), taken], said, 1e-4, 1e-6)
