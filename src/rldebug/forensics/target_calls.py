"""Rows of a loss that its first layer does not tell: they are those of the call that made the prediction.

A network may cut its input into parts first, frames or objects, so that the first layer sees more rows than there are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Audit, Event


def with_rows(audit: Audit, term: Event) -> Event:
    """The term, with the rows of the call whose outputs hold its predictions, where its own are not known."""
    rows, prediction, index = (term.arrays.get(name) for name in ("rows", "prediction", "index"))
    if prediction is None or index is None or np.size(index) != np.size(prediction):
        return term
    count = int(np.size(prediction))
    if rows is not None and len(rows) == count and (rows >= 0).mean() > 0.5:
        return term
    said, taken = np.ravel(prediction).astype(np.float64), np.ravel(index).astype(np.int64)
    for event in audit.calls:
        ids, output = event.arrays.get("rows"), event.arrays.get("output0")
        if ids is None or output is None or not event["grad"] or len(output) != len(ids) or event.order > term.order:
            continue
        orders = event.arrays.get("orders")
        orders = np.full(len(ids), event.order) if orders is None or len(orders) != len(ids) else orders
        for order in np.unique(orders[orders < term.order])[-4:]:
            block = orders == order
            part = output[block].reshape(int(block.sum()), -1)
            if len(part) != count or not 0 <= int(taken.min()) <= int(taken.max()) < part.shape[1]:
                continue
            if np.allclose(part[np.arange(count), taken], said, 1e-4, 1e-6) and (ids[block] >= 0).mean() > 0.5:
                return replace(term, arrays={**term.arrays, "rows": ids[block]})
    return term
