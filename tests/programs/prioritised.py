"""A prioritised replay, simulated: rows with errors, drawn by their priorities, weighted, and given new priorities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from tests.programs.made import nodes

ALPHA, BETA, ROWS = 0.6, 0.5, 64


def replayed(*, written: str = "own", new: float | None = None, audits: int = 6) -> Script:
    """`written`: whose priorities are written, "own", "sorted", or "positive" errors
    alone; `new`: the priority of new rows, else the largest."""
    random = np.random.default_rng(0)
    made, error, priority, count = [], np.abs(random.normal(0.0, 1.0, 4000)) + 0.05, np.zeros(4000), 150
    priority[:count] = 1.0
    sign = random.choice([-1.0, 1.0], 4000)
    update = 40
    for number in range(audits):
        events = []
        seen = replace(nodes(random.normal(size=(count + 40, 3))), update=np.arange(count + 40) // 2)
        for _ in range(8):
            priority[count : count + 5] = priority.max() if new is None else new
            count += 5
            share = priority[:count] ** ALPHA / (priority[:count] ** ALPHA).sum()
            rows = random.choice(count, ROWS, p=share)
            weight = (count * share[rows]) ** -BETA
            arrays = {"prediction": np.zeros(ROWS), "target": sign[rows] * error[rows], "weight": weight / weight.max(),
                      "index": np.zeros(ROWS, np.int64), "rows": rows.astype(np.int64)}  # fmt: skip
            events.append(Event(len(events), "term", update, 0, {"kind": "regression"}, arrays))
            marked = np.where(sign[rows] > 0, error[rows], 1e-3) if written == "positive" else error[rows]
            priority[np.sort(rows) if written == "sorted" else rows] = marked
            update += 1
        made.append(Audit(number, number, update - 8, 0, seen, tuple(events)))
        update += 30
    return Script(audits=made)
