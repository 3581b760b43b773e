"""Policy losses made of numbers, for rules about their terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from tests.programs.made import nodes


def term(order: int, update: int, kind: str = "policy", **given: Any) -> Event:
    """`given`: arrays are arrays of the term, the rest is detail."""
    arrays = {name: each for name, each in given.items() if isinstance(each, np.ndarray)}
    detail: dict[str, Any] = {
        "kind": kind, "op": "exp-ratio", "coefficient": -1.0, "scale": -0.01, "reduction": "mean", "reached": ["net"],
        "line": ["train.py", 7], "steps": 1, "cut": False,
    }  # fmt: skip
    rows = next((len(each) for each in arrays.values()), 0)
    detail |= {"rows": rows, **{name: each for name, each in given.items() if name not in arrays}}
    return Event(order, "term", update, 0, detail, arrays)


def script(losses: Sequence[Sequence[Sequence[Event]]], rows: int = 32) -> Script:
    """Audits of losses of terms; every audit acted on the same few steps."""
    made = []
    for number, of_audit in enumerate(losses):
        events: list[Event] = []
        for terms in of_audit:
            events.append(Event(len(events), "loss", terms[0].update, 0, {"how": "backward", "value": 0.0}))
            events += terms
        of = nodes(np.arange(rows, dtype=np.float64)[:, None] + 0.5, phase=number)
        made.append(Audit(number, number, number, 0, of, tuple(events)))
    things = {"module": {"net": {"owners": {"optimizer": 4}}}}
    return Script(made, things)
