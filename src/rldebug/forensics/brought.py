"""Brought: steps that other processes took belong to the update that learns from them first.

The log has them from when the learner heard of them, which says little: actors run ahead, and what they bring waits in
a queue. Those that a loss learns from are made one stretch of acting, together with the minibatches beside it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from rldebug.evidence.script import Audit, Script
from rldebug.forensics.node_places import places_of

_JOINED = 0.25  # of the rows of a minibatch, next to which another one has the next step: of one rollout, shuffled
_NEVER = -1


def elsewhere(script: Script) -> frozenset[int]:
    """Streams that another process steps."""
    return frozenset(int(each["index"]) for each in script.streams if "elsewhere" in (each.get("facts") or {}))


def brought(audit: Audit, streams: frozenset[int]) -> Audit:
    nodes = audit.nodes
    theirs = np.isin(nodes.stream, list(streams))
    if not theirs.any():
        return audit
    update = np.where(theirs, _NEVER, nodes.update)
    for term in audit.of("term"):
        places = places_of(nodes, term.arrays["rows"]) if "rows" in term.arrays else np.empty(0, dtype=np.int64)
        places = places[places >= 0]
        places = places[theirs[places] & (update[places] == _NEVER)]
        update[places] = term.update
    known = np.flatnonzero(theirs & (update != _NEVER))
    sizes = Counter(update[known].tolist())
    onward = places_of(nodes, nodes.succ[known])
    pairs = zip(update[known].tolist(), np.where(onward >= 0, update[onward], _NEVER).tolist(), strict=True)
    first = {each: each for each in sizes}
    for (one, other), count in sorted(Counter(tuple(sorted(pair)) for pair in pairs).items()):
        if _NEVER < one != other and count >= _JOINED * min(sizes[one], sizes[other]):
            first[other] = min(first[other], first[one])
    update[known] = [first[each] for each in update[known].tolist()]
    return replace(audit, nodes=replace(nodes, update=update))
