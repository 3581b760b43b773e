"""Moments between two calls of the environment: was a network asked about the newest observations, or about others."""

from __future__ import annotations

from rldebug.evidence.script import Script
from rldebug.forensics.batches import Call, calls_of

Moment = tuple[int, int]  # audit, env calls before it


def moments_of(script: Script, lanes: int) -> tuple[set[Moment], dict[Moment, list[Call]]]:
    """Those with a call on the newest observations; and by moment the calls on one other row for each lane."""
    current: set[Moment] = set()
    others: dict[Moment, list[Call]] = {}
    for call in calls_of(script):
        if call.at is None or len(call.rows) != lanes or call.event["match"] == "tag":
            continue
        moment = (call.audit.number, int(call.at))
        if call.event.get("acting"):
            current.add(moment)
        else:
            others.setdefault(moment, []).append(call)
    return current, others


def lag(call: Call) -> int:
    """Env calls since the newest observation that it was given."""
    assert call.at is not None
    return int(call.at) - int(call.audit.nodes.call[call.places].max())
