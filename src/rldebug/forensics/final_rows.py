"""Rows of losses that are final observations, from which no step was taken, where first ones are missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.node_places import Flags, Ints, places_of
from rldebug.forensics.trained_actions import trained_actions


@dataclass(frozen=True, eq=False)
class FinalRows:
    rows: int  # that could be traced to an observation that occurred once
    ends: int  # of them: final observations
    starts: int  # of them: first ones of episodes, from which steps were taken
    audits: int  # with such ends
    streams: Counter[int]  # environments that the ends are of
    where: Where | None


@lru_cache(maxsize=8)
def final_rows(script: Script) -> FinalRows:
    rows = ends = starts = 0
    seen: set[int] = set()
    streams: Counter[int] = Counter()
    first: tuple[Audit, Event] | None = None
    beside = {id(each.term) for each in trained_actions(script)}  # a critic is given its actions
    for audit, term in script.events("term"):
        places = _judged(audit, term, id(term) in beside)
        if not len(places):
            continue
        nodes = audit.nodes
        last = np.isin(nodes.id[places], nodes.nxt[nodes.terminated | nodes.truncated]) & ~nodes.acted[places]
        rows += len(places)
        ends += int(last.sum())
        starts += int((nodes.first[places] & nodes.acted[places]).sum())
        streams.update(nodes.stream[places[last]].tolist())
        if last.any():
            seen.add(audit.number)
            first = first or (audit, term)
    return FinalRows(rows, ends, starts, len(seen), streams, None if first is None else _asked(*first))


def _judged(audit: Audit, term: Event, beside: bool) -> Ints:
    """Places of the rows that count: of one observation only, with an action, not masked out."""
    ids = term.arrays.get("rows")
    actions = term.arrays.get("index", term.arrays.get("action"))
    known = beside if actions is None else ids is not None and len(actions) == len(ids)
    if ids is None or not known or term["kind"] not in ("policy", "regression"):
        return np.empty(0, dtype=np.int64)
    places = places_of(audit.nodes, ids)
    if not (places >= 0).any():  # there may be no observation at all to look up
        return np.empty(0, dtype=np.int64)
    keep: Flags = (places >= 0) & (np.where(places >= 0, audit.nodes.alike[places], 1) == 0)
    for name in ("mask", "weight"):
        counted = term.arrays.get(name)
        if counted is not None and counted.size == len(ids):
            keep = keep & (np.ravel(counted) != 0)  # sequences are stored with their end, and it is masked
    return np.asarray(places[keep])


def _asked(audit: Audit, term: Event) -> Where:
    """Where a network was asked about such an observation by itself, to act; else the loss."""
    nodes = audit.nodes
    ends = nodes.nxt[nodes.terminated | nodes.truncated]
    for call in audit.calls:
        rows = call.arrays.get("rows")
        if rows is None or call.get("calls", 1) != len(rows) or call.get("grad") or not call.get("line"):
            continue
        if np.isin(rows, ends[ends >= 0]).any():
            return call.where
    return term.where
