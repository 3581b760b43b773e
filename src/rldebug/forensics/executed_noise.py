"""Executed noise: what a continuous policy said of the current observation, beside the action that was executed.

For actors that learn through a critic. Their output is a mean, or the action itself: the executed one is made of it by
a fixed map (stretched to the bounds, squashed, cut off), and by noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Where
from rldebug.forensics.passes import actor_passes, outputs_of
from rldebug.forensics.roles import roles_of
from rldebug.forensics.target_actions import action_of
from rldebug.forensics.trained_actions import equal, trained_actions

Array = NDArray[np.float64]

_DRAWS = 8  # numbers that are compared
_SAMPLED = 0.1  # share of its steps in which it has drawn numbers; it may be tested in the same environment
_RISING = 0.2  # share of neighbours that differ; the others are cut off


@dataclass(frozen=True, eq=False)
class Executed:
    """Steps of the environment that is learned from, of one policy, in order."""

    module: str
    said: Array  # (steps, elements): as the policy gave it, or squashed, stretched to the bounds
    action: Array
    audit: NDArray[np.int64]
    low: Array | None
    high: Array | None
    way: str  # how it was mapped: "as it is", "tanh"
    drawn: bool  # the policy is one that draws its actions when it learns
    itself: bool  # and what it returns is such a sample already
    sure: bool  # in the actor's loss the critic is given just this, and the losses hold what was executed
    where: Where

    def __len__(self) -> int:
        return len(self.action)

    @property
    def noise(self) -> Array:
        return self.action - self.said

    @property
    def free(self) -> NDArray[np.bool_]:
        """Elements that no bound cuts off."""
        low = self.low if self.low is not None else self.action.min(axis=0)
        high = self.high if self.high is not None else self.action.max(axis=0)
        room = 1e-4 * (high - low)
        return np.asarray((self.action > low + room) & (self.action < high - room))


@lru_cache(maxsize=8)
def executed_by(script: Script) -> tuple[Executed, ...]:
    return tuple(_executed(script))


def _executed(script: Script) -> Iterator[Executed]:
    stream = roles_of(script).stream
    actors = {push.module for each in actor_passes(script) for push in each.actor}
    if stream is None or stream >= len(script.streams):
        return
    facts = script.streams[stream].get("facts") or {}
    drawn = any(event.get("how") == "rsample" and event.get("attached") for _, event in script.events("sample"))
    for name in sorted(actors):
        said: list[Array] = []
        action: list[Array] = []
        audits: list[int] = []
        drew: list[bool] = []
        where = Where()
        for audit, outputs in outputs_of(script):
            for each in outputs:
                if each.module != name or not each.event.get("acting") or each.place:
                    continue
                places = audit.nodes.index(each.rows)
                keep = places >= 0
                keep &= np.where(keep, audit.nodes.acted[places] & ~audit.nodes.phantom[places], False)
                keep &= np.where(keep, audit.nodes.stream[places] == stream, False)
                if not keep.any() or each.values.shape[1] != audit.nodes.action.shape[1]:
                    continue
                said.append(each.values[keep])
                action.append(audit.nodes.action[places[keep]])
                audits += [audit.number] * int(keep.sum())
                drew += [bool(each.event.get("drew"))] * int(keep.sum())
                where = where if where.line else each.event.where
        if not said:
            continue
        out, done = np.concatenate(said), np.concatenate(action)
        if not np.isfinite(out).all() or not np.isfinite(done).all():
            continue
        low, high = _bounds(facts, done.shape[1])
        learned = list(_learned(script, name))
        stored, itself = _stored(script), _draws_itself(script, name, float(np.mean(drew)) > _SAMPLED)
        for number, (way, mapped) in enumerate(_mapped(out, low, high)):
            sure = stored and len(learned) >= 3
            for given, said_then in learned[:8]:
                then = list(_mapped(said_then, low, high))[number][1]
                sure &= bool(np.abs(then - given).max() <= 1e-4 * (1 + np.abs(given).max()))
            yield Executed(name, mapped, done, np.array(audits), low, high, way, drawn, itself, sure, where)


def _draws_itself(script: Script, name: str, drew: bool) -> bool:
    """Whether what it returns when it acts is a sample that was drawn within it, squashed or stretched."""
    if drew:
        # Something was drawn: the sample is what a critic is given in the actor's loss, and not the mean beside it.
        return all(_rise_together(said, given) for given, said in list(_learned(script, name))[:8])
    for audit in script.audits:
        draws = [each for each in audit.events if each.kind == "sample" and {"result", "orders"} <= each.arrays.keys()]
        for call in audit.calls:
            said, told = call.arrays.get("output0"), call.arrays.get("orders")
            if call["module"] != name or not call.get("acting") or said is None or told is None or said.size < _DRAWS:
                continue
            for each in draws:
                result, drawn = each.arrays["result"], each.arrays["orders"]
                if result.size != said.size or len(drawn) != len(told) or not (drawn < told).all():
                    continue  # a call is told when it returns: what is drawn within it comes first
                if _rise_together(result.reshape(len(told), -1), said.reshape(len(told), -1)):
                    return True
    return False


def _rise_together(one: Array, other: Array) -> bool:
    """In every column, up to ties: a tanh has many ones."""
    places = np.argsort(one, axis=0, kind="stable")
    rising = np.diff(np.take_along_axis(other, places, axis=0), axis=0)
    return bool((rising >= 0.0).all() and (rising > 0.0).mean() > _RISING)


def _learned(script: Script, name: str) -> Iterator[tuple[Array, Array]]:
    """The action that a critic is given in the actor's loss, and what the actor had said."""
    for each in actor_passes(script):
        said = [push.output.values for push in each.actor if push.module == name and push.output.place == 0]
        wide = each.audit.nodes.action.shape[1]
        given = action_of(each.audit.nodes, each.critics[0].output, wide)
        if len(said) == 1 and given is not None and said[0].shape == given.shape:
            yield given, said[0]


def given_as_said(script: Script, name: str) -> bool:
    """Whether, in the actor's loss, the critic is given just what the actor said."""
    learned = list(_learned(script, name))
    return len(learned) >= 3 and all(
        np.abs(given - said).max() <= 1e-4 * (1 + np.abs(given).max()) for given, said in learned[:8]
    )


def _stored(script: Script) -> bool:
    """Whether losses hold the actions as they were executed."""
    rows = same = 0
    for each in trained_actions(script):
        if each.discrete:
            continue
        done = each.executed
        keep = np.isfinite(done).all(axis=1)
        rows += int(keep.sum())
        same += int(equal(done[keep], each.action[keep]).sum())
    return rows >= 32 and same >= 0.95 * rows


def _bounds(facts: object, width: int) -> tuple[Array | None, Array | None]:
    found = []
    for name in ("action_low", "action_high"):
        each = np.ravel(np.array((facts.get(name) if isinstance(facts, dict) else None) or [], dtype=np.float64))
        found.append(each if len(each) == width and np.isfinite(each).all() else None)
    return found[0], found[1]


def _mapped(out: Array, low: Array | None, high: Array | None) -> Iterator[tuple[str, Array]]:
    """Ways in which an output becomes an action, without noise."""
    forms = [("as it is", out), ("tanh", np.tanh(out))]
    for name, each in list(forms):
        if low is not None and high is not None:
            forms.append((f"{name}, stretched", (high + low) / 2 + each * (high - low) / 2))
            forms.append((f"{name}, cut off", np.clip(each, low, high)))
    yield from forms
