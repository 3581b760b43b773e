"""Ages: how long ago the rows of a batch were acted on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import Call, learning
from rldebug.forensics.roles import roles_of

_ROWS = 64  # of an audit; fewer do not show what is never drawn


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was learned from in one audit: the env call each row came with, of its own stream."""

    audit: Audit
    first: Event
    now: int  # the newest env call of the stream
    calls: NDArray[np.int64]  # of the rows that are known
    batches: int
    unknown: float  # share of rows that are not known

    @property
    def lag(self) -> int:
        """Env calls since the newest row."""
        return self.now - int(self.calls.max())

    @property
    def oldest(self) -> int:
        return self.now - int(self.calls.min())


@lru_cache(maxsize=8)
def drawn(script: Script) -> tuple[Drawn, ...]:
    """One for each audit in which enough rows could be traced."""
    stream = roles_of(script).stream
    by_audit: dict[int, list[Call]] = {}
    for call in learning(script):
        if len(call.rows) >= 8 and call.event["match"] != "tag":
            by_audit.setdefault(call.audit.number, []).append(call)
    found = []
    for calls in by_audit.values():
        nodes = calls[0].audit.nodes
        places = np.concatenate([each.places for each in calls])
        known = places[places >= 0]
        own = known[(nodes.stream[known] == stream) & nodes.acted[known]]
        # An equal observation that came later hides the one that was drawn: such rows look newer than they are.
        own = own[nodes.alike[own] == 0]
        mine = nodes.stream == stream
        if len(own) >= _ROWS and mine.any():
            now = int(nodes.call[mine].max())
            found.append(
                Drawn(calls[0].audit, calls[0].event, now, nodes.call[own], len(calls), 1 - len(own) / len(places))
            )
    return tuple(found)
