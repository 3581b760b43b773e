"""Steps of an evaluation that were taken without asking a network: drawn at random, among others that it chose."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.worlds import evaluation_calls, evaluation_streams

_OFTEN = 3  # that a gap of some length comes up


@dataclass(frozen=True, eq=False)
class Unasked:
    steps: int  # between the first and the last that was chosen, episode by episode
    unasked: int
    event: Event
    update: int


def unasked(script: Script) -> Unasked | None:
    """All evaluations with one lane together. Nothing where the gaps are all alike: there each action is repeated."""
    steps = missing = update = 0
    gaps: Counter[int] = Counter()
    event: Event | None = None
    lanes = {int(each["index"]): int(each.get("lanes") or 1) for each in script.streams}
    for stream in sorted(evaluation_streams(script)):
        if lanes.get(stream) != 1:
            continue
        for audit in script.audits:
            asked = _asked(script, audit, stream)
            if asked is None:
                continue
            first, moments = asked
            event, update = event or first, max(update, first.update)
            for episode in _episodes(audit, stream):
                told = np.flatnonzero(np.isin(episode, list(moments)))
                if len(told) < 2:
                    continue
                within = np.diff(told) - 1
                gaps.update(within.tolist())
                steps += int(told[-1] - told[0]) + 1
                missing += int(within.sum())
    if event is None or sum(times >= _OFTEN for times in gaps.values()) < 2 or gaps[0] < _OFTEN:
        return None
    return Unasked(steps, missing, event, update)


def _asked(script: Script, audit: Audit, stream: int) -> tuple[Event, set[int]] | None:
    """When any network was called, in env calls of this stream; None where other environments are played meanwhile."""
    apart: set[int] = set()
    first: Event | None = None
    for call in evaluation_calls(script):
        if call.audit is not audit or call.at is None or not call.known.any():
            continue
        place = int(call.places[call.known][0])
        if int(audit.nodes.stream[place]) == stream:
            apart.add(int(call.at) - int(audit.nodes.call[place]))
            first = first or call.event
    if first is None or len(apart) != 1:
        return None
    (offset,) = apart
    moments: set[int] = set()
    for each in audit.calls:
        at = each.arrays.get("at")
        moments.update(int(one) - offset for one in ([each.call] if at is None else np.unique(at).tolist()))
    return first, moments


def _episodes(audit: Audit, stream: int) -> list[np.ndarray]:
    """Numbers of the env calls that returned what was acted from, for each episode."""
    nodes = audit.nodes
    mine = np.flatnonzero((nodes.stream == stream) & nodes.acted & ~nodes.phantom)
    if not len(mine):
        return []
    calls, starts = nodes.call[mine], nodes.first[mine]
    cuts = np.flatnonzero(starts | np.append(False, np.diff(calls) != 1))
    return [np.asarray(each) for each in np.split(calls, cuts[cuts > 0])]
