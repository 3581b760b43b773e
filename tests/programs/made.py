"""Scripts made by hand, for rules about what a network is given: one environment, one network, a few audits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Nodes, Script

Array = NDArray[Any]


def nodes(obs: Array, *, stream: Array | None = None, phase: int = 0) -> Nodes:
    """Observations in a row, a step taken from each."""
    count = len(obs)
    ids = np.arange(count)
    off = np.zeros(count, dtype=bool)
    flat = obs.reshape(count, -1)
    narrow = flat if flat.shape[1] <= 64 else np.empty((count, 0))
    return Nodes(
        id=ids, stream=np.zeros(count, np.int64) if stream is None else stream, lane=np.zeros(count, np.int64),
        call=ids + 1, phase=np.full(count, phase), update=np.full(count, phase), reward=np.zeros(count), terminated=off,
        truncated=off, phantom=off, first=off, acted=~off, action=np.zeros((count, 1)), nxt=ids + 1, succ=ids + 1,
        alike=np.zeros(count, dtype=np.int64), obs=narrow.astype(np.float32),
        obs_stats=np.stack([flat.min(1), flat.max(1), flat.mean(1), flat.std(1)], axis=1),
    )  # fmt: skip


def call(
    order: int,
    rows: Array,
    given: Array,
    *,
    module: str = "net",
    acting: bool = False,
    grad: bool = False,
    match: str = "raw",
    shape: Sequence[int] | None = None,
) -> Event:
    flat = given.reshape(len(given), -1)
    arrays: dict[str, Array] = {"rows": rows.astype(np.int64)}
    if flat.shape[1] <= 64:
        arrays["input"] = flat
    else:
        arrays["input_stats"] = np.stack([flat.min(1), flat.max(1), flat.mean(1), flat.std(1)], axis=1)
    detail = {
        "module": module,
        "training": True,
        "grad": grad,
        "acting": acting,
        "match": match,
        "inputs": [{"shape": list(shape or given.shape), "dtype": "torch.float32"}],
        "outputs": [],
        "line": ["train.py", 10 + order],
    }
    return Event(order, "call", 0, int(order), detail, arrays)


def script(audits: Sequence[tuple[Nodes, Sequence[Event]]], streams: Sequence[dict[str, Any]] = ({},)) -> Script:
    """Each audit ends in an optimizer step; the network is called `net`, and an optimizer owns it."""
    made = []
    for number, (of_audit, events) in enumerate(audits):
        step = Event(1000, "step", number, 0, {"optimizer": "optimizer"})
        made.append(Audit(number, int(of_audit.phase.min(initial=0)), number, 0, of_audit, (*events, step)))
    things = {
        "module": {"net": {"class": "Net", "owners": {"optimizer": 4}, "layers": {"Linear": 2}, "inside": None}},
        "stream": {
            str(index): {"index": index, "steps": 1000 - index, "resets": 1, "lanes": 1, "facts": {}, "obs": {}, **each}
            for index, each in enumerate(streams)
        },
    }
    return Script(made, things)
