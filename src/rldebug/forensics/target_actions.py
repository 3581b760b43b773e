"""Target actions: about which actions critics are asked, at the states that a step led to.

In DDPG, TD3 and SAC they are the policy's own, with or without noise. Critics take them beside the observation, or as
an input of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.forensics.passes import Output, outputs_of
from rldebug.forensics.trained_actions import is_observation

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Asked:
    """One question to a critic about next states, before a regression of the same update."""

    audit: Audit
    term: Event
    call: Output
    action: Array  # (rows, elements)
    stored: Array  # the action that the loss holds for the step itself; NaN where it is not known
    executed: Array  # the action executed from the state of the row
    policy: Array | None  # what a policy said of the next states just before, where it is as wide as an action
    known: Flags  # rows whose step is certain, and within an episode


@lru_cache(maxsize=8)
def asked_of(script: Script) -> tuple[Asked, ...]:
    return tuple(_asked(script))


def _asked(script: Script) -> Iterator[Asked]:
    for audit, outputs in outputs_of(script):
        nodes = audit.nodes
        wide = nodes.action.shape[1]
        boxes = any((each.get("facts") or {}).get("action_space") == "Box" for each in script.streams)
        if not len(nodes) or not (boxes or _continuous(nodes)):
            continue
        for term in audit.terms("regression"):
            rows = term.arrays.get("rows")
            if rows is None or len(rows) < 8 or "index" in term.arrays:
                continue
            places = nodes.index(rows)
            safe = np.where(places >= 0, places, 0)
            known = (places >= 0) & nodes.acted[safe] & ~nodes.phantom[safe] & (nodes.alike[safe] == 0)
            known &= ~(nodes.terminated[safe] | nodes.truncated[safe])
            before = [each for each in outputs if each.order < term.order and each.update == term.update]
            before = [each for each in before if len(each.rows) == len(rows) and not each.event.get("acting")]
            for call in before:
                if known.sum() < 8 or not (call.rows[known] == nodes.nxt[safe][known]).mean() > 0.9 or call.place:
                    continue
                action = action_of(nodes, call, wide)
                if action is None:
                    continue
                policies = [
                    each
                    for each in before
                    if each.order < call.order and np.array_equal(each.rows, call.rows) and not each.more
                    and each.values.shape == action.shape and each.module != call.module
                ]  # fmt: skip
                yield Asked(
                    audit, term, call, action, _stored(nodes, before, rows, wide),
                    np.where(known[:, None], nodes.action[safe], np.nan),
                    policies[-1].values if policies else None, known,
                )  # fmt: skip


def _continuous(nodes: Nodes) -> bool:
    taken = nodes.action[np.isfinite(nodes.action).all(axis=1)]
    return bool(len(taken) >= 8 and (taken != np.rint(taken)).mean() > 0.2)


def action_of(nodes: Nodes, call: Output, wide: int) -> Array | None:
    """The part of a critic's input that is an action."""
    for each in call.more:
        if each.shape[1:] == (wide,):
            return each
    given, observed = call.given, nodes.obs.shape[1]
    if given is None or not observed or given.shape[1] != observed + wide:
        return None
    places = nodes.index(call.rows)
    sure = places >= 0
    if sure.sum() < 4:
        return None
    obs = nodes.obs[places[sure]]
    if is_observation(obs, given[sure, :observed]):
        return given[:, observed:]
    if is_observation(obs, given[sure, wide:]):
        return given[:, :wide]
    return None


def _stored(nodes: Nodes, before: list[Output], rows: NDArray[np.int64], wide: int) -> Array:
    for each in reversed(before):
        if each.attached and np.array_equal(each.rows, rows):
            action = action_of(nodes, each, wide)
            if action is not None:
                return action
    return np.full((len(rows), wide), np.nan)
