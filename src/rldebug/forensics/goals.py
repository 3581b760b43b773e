"""Goals: columns of the input that are the same before and after a step, and differ from row to row.

In hindsight a step is learned as if another goal had been meant. That it was done shows in the goals of a batch: there
are more of them than there were episodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import Call, calls_of, owned
from rldebug.forensics.target_free import free_formula
from rldebug.forensics.target_twins import world_of

_ROWS = 16
_TERMS = 24


@dataclass(frozen=True, eq=False)
class Asked:
    """A Q-regression, the call that predicts, and the calls without gradients that its target may be made of."""

    audit: Audit
    term: Event
    predicting: Call
    others: tuple[Call, ...]


@lru_cache(maxsize=8)
def asked(script: Script) -> tuple[Asked, ...]:
    return tuple(_asked(script))


def _asked(script: Script) -> Iterator[Asked]:
    by_update: dict[tuple[int, int], list[Call]] = {}
    for call in calls_of(script):
        if not call.event.get("acting") and call.input is not None and call.event["match"] != "tag":
            by_update.setdefault((call.audit.number, call.update), []).append(call)
    for audit, term in script.terms("regression"):
        index = term.arrays.get("index")
        if index is None or np.size(index) < _ROWS:
            continue
        near = [
            each
            for each in by_update.get((audit.number, term.update), ())
            if each.order < term.order and len(each.rows) == np.size(index)
        ]
        learning = [each for each in near if each.event["grad"] and owned(script, each.module)]
        others = [each for each in near if each not in learning]
        if len(learning) == 1 and others:
            yield Asked(audit, term, learning[0], tuple(others))


def same_inputs(each: Asked) -> bool:
    """Whoever makes the target was asked about the very rows that are predicted, and about no others."""
    own = each.predicting.input
    assert own is not None
    if float(np.ptp(own, axis=0).max()) < 1e-6:
        return False  # all rows are one: nothing can be told
    return all(one.input is not None and one.input.shape == own.shape and np.array_equal(one.input, own)
               for one in each.others)  # fmt: skip


def copied(each: Asked) -> bool:
    """The target is what the other network says of the same action: a teacher, not a bootstrap."""
    target, index = each.term.arrays.get("target"), np.ravel(each.term.arrays["index"]).astype(np.int64)
    for one in each.others:
        output = one.event.arrays.get("output0")
        orders = one.event.arrays.get("orders")
        if target is None or output is None:
            continue
        part = output if orders is None or len(orders) != len(output) else output[orders == one.order]
        part = part.reshape(len(part), -1)
        if len(part) == len(index) == np.size(target) and index.min() >= 0 and index.max() < part.shape[1]:
            said = part[np.arange(len(index)), index]
            if np.mean(np.abs(said - np.ravel(target)) < 1e-4 * (1.0 + np.abs(said))) > 0.5:
                return True
    return False


def goal_columns(each: Asked) -> NDArray[np.int64]:
    """Columns that stay as they are from each row to its next, while others change."""
    own = each.predicting.input
    after = next((one.input for one in each.others if one.input is not None and own is not None
                  and one.input.shape == own.shape and not np.array_equal(one.input, own)), None)  # fmt: skip
    if own is None or after is None:
        return np.empty(0, dtype=np.int64)
    stays = (np.abs(own - after) < 1e-7).all(axis=0)
    varies = np.ptp(own, axis=0) > 1e-6
    return np.flatnonzero(stays & varies)


@dataclass(frozen=True)
class Hindsight:
    """Batches whose goals were exchanged, and how often their rows are paid for reaching one."""

    batches: int
    rows: int
    audits: int
    reached: int  # rows with the largest reward that the environment pays
    reward: float
    length: float  # of an episode, on average
    usual: float  # how often the environment pays it
    goals: tuple[int, int]  # different ones in a batch, and episodes by then
    term: Event


@lru_cache(maxsize=8)
def hindsight(script: Script) -> Hindsight | None:
    found: list[Asked] = []
    most = (0, 0)
    for each in asked(script):
        columns = goal_columns(each)
        own = each.predicting.input
        if own is None or not 1 <= len(columns) < own.shape[1]:
            continue
        goals = len(np.unique(np.round(own[:, columns], 6), axis=0))
        episodes = _episodes(script, each)
        if episodes and goals > 1.3 * episodes + 4:
            found.append(each)
            most = max(most, (goals, episodes))
    if len(found) < 2:
        return None
    world = world_of(script)
    free = free_formula(world, [(each.audit, each.term) for each in found][:_TERMS])
    if free is None or len(free.ends) < 2:
        return None
    best = max(free.ends)
    known = np.isfinite(free.reward)
    reached = known & (np.abs(free.reward - best) < 1e-5)
    rewards, done = world.reward[world.usable], (world.terminated | world.truncated)[world.usable]
    length = len(rewards) / max(int(done.sum()), _begun(script) * len(rewards), 1)
    usual = float((np.abs(rewards - best) < 1e-5).mean())
    audits = len({each.audit.number for each in found})
    return Hindsight(len(found), int(known.sum()), audits, int(reached.sum()), best, length, usual, most, found[0].term)


def _begun(script: Script) -> float:
    """How often a step is the first after a reset: a program may leave episodes before they end."""
    steps = sum(int(each.get("steps") or 0) for each in script.streams)
    return sum(int(each.get("resets") or 0) for each in script.streams) / max(steps, 1)


def _episodes(script: Script, asked: Asked) -> int:
    """That had begun by then, in all environments. 0 where they are not all known."""
    total = 0
    for stream in script.streams:
        at = stream.get("at") or []
        updates = np.asarray([each for each in at if isinstance(each, (int, float))])
        total += int((updates <= asked.term.update).sum()) + int(stream.get("lanes") or 1)
        if int(stream.get("episodes") or 0) > len(at):
            return 0
    nodes = asked.audit.nodes
    if not len(nodes) or not nodes.first.any():
        return total
    return max(total, math.ceil(float(nodes.first.mean()) * (int(nodes.id.max()) + 1)))
