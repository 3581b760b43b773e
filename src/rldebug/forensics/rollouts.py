"""Rollouts: what was collected in one phase, and how often each of its steps was learned from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import Call, ambiguous, learning, recurrent
from rldebug.forensics.roles import roles_of

_STEPS = 32  # of a rollout; fewer show no pattern


@dataclass(frozen=True, eq=False)
class Rollout:
    audit: Audit
    module: str
    first: Event
    places: NDArray[np.int64]  # of the steps of this phase, by time and lane
    position: NDArray[np.int64]  # of each: which step of the rollout it is
    batches: tuple[NDArray[np.int64], ...]  # places that each update learned from, in order; UNKNOWN among them

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each step was learned from."""
        drawn = np.concatenate(self.batches)
        table = np.bincount(drawn[drawn >= 0], minlength=len(self.audit.nodes))
        return np.asarray(table[self.places], dtype=np.int64)


@lru_cache(maxsize=8)
def rollouts(script: Script) -> tuple[Rollout, ...]:
    """Phases of on-policy learning that were seen whole, for each network; only where observations do not repeat."""
    roles = roles_of(script)
    if not roles.on_policy or roles.stream is None:
        return ()
    of_audit: dict[int, dict[str, list[Call]]] = {}
    for call in learning(script):
        if call.event["match"] != "tag" and len(call.rows) > 1:
            of_audit.setdefault(call.audit.number, {}).setdefault(call.module, []).append(call)
    found = []
    for audit in script.audits:
        nodes = audit.nodes
        mine = (nodes.stream == roles.stream) & nodes.acted & ~nodes.phantom
        for module, calls in of_audit.get(audit.number, {}).items():
            if recurrent(script, module):
                continue
            # The phase that the first update of the audit learns from: later ones may have been cut off.
            places = np.concatenate([each.places for each in calls])
            phases = nodes.phase[places[places >= 0]]
            if not len(phases) or phases.min() != phases.max():
                continue
            steps = np.flatnonzero(mine & (nodes.phase == phases[0]))
            if len(steps) < _STEPS or ambiguous(nodes, steps).mean() > 0.02 or not _whole(audit, int(phases[0]), calls):
                continue
            order = steps[np.lexsort((nodes.lane[steps], nodes.call[steps]))]
            ranks = np.unique(nodes.call[order], return_inverse=True)[1]
            found.append(Rollout(audit, module, calls[0].event, order, ranks, tuple(_batches(calls))))
    return tuple(found)


def _whole(audit: Audit, phase: int, calls: list[Call]) -> bool:
    """The audit began with or before the phase, and went on until another was begun."""
    nodes = audit.nodes
    return (
        phase >= audit.phase
        and max(each.order for each in calls) < max(each.order for each in audit.events)
        and bool((nodes.phase > phase).any() or len({each.update for each in calls}) > 1)
    )


def _batches(calls: list[Call]) -> list[NDArray[np.int64]]:
    """One for each update: a network may be called twice on the same minibatch, or step by step on parts of it."""
    by_update: dict[int, NDArray[np.int64]] = {}
    for each in calls:
        before = by_update.get(each.update)
        if before is None:
            by_update[each.update] = each.places
        elif not np.isin(each.places, before).mean() > 0.5:
            by_update[each.update] = np.concatenate([before, each.places])
    return list(by_update.values())
