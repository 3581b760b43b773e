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


def moments_in(script: Script, stream: int, lanes: int) -> tuple[set[Moment], dict[Moment, list[Call]]]:
    """The same of one environment among several, in audits in which only its own steps were counted: then every call on
    its newest observations comes as many env calls later as it has seen."""
    current, others = moments_of(script, lanes)
    own: dict[Moment, bool] = {}
    for call in calls_of(script):
        moment = (call.audit.number, int(call.at or 0))
        if moment in current and call.event.get("acting") and len(call.rows) == lanes and _of(call, stream):
            own[moment] = lag(call) == 0
    mixed = {number for (number, _), alone in own.items() if not alone}
    return (
        {each for each in own if each[0] not in mixed},
        {
            each: kept
            for each, calls in others.items()
            if each[0] not in mixed and (kept := [call for call in calls if _of(call, stream)])
        },
    )


def _of(call: Call, stream: int) -> bool:
    places = call.places
    return bool((places >= 0).all() and (call.audit.nodes.stream[places] == stream).all())


def lag(call: Call) -> int:
    """Env calls since the newest observation that it was given."""
    assert call.at is not None
    return int(call.at) - int(call.audit.nodes.call[call.places].max())
