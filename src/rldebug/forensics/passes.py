"""Backward passes, by what they did to the outputs of networks: who was pushed by which loss, row by row, which way.

The actor of DDPG, TD3 and SAC learns through its critic: such a pass has a gradient at the output of a critic that was
asked about the actor's own actions, and one at the actor's. In which form the loss was written does not matter. A
critic that is asked by a method of its own (`critic.q1(state, action)`) is seen as the layers that this calls, one
after the other: the last of them says what the first was asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Output:
    """What a network said in one call, one of its outputs."""

    module: str
    event: Event  # of the call; merged with others
    order: int
    update: int
    rows: NDArray[np.int64]
    values: Array  # (rows, columns)
    place: int  # which of the outputs
    given: Array | None = None  # the first input, where it is narrow
    more: tuple[Array, ...] = ()  # inputs after the first

    @property
    def attached(self) -> bool:
        outputs = self.event.get("outputs") or []
        return bool(self.place < len(outputs) and outputs[self.place].get("attached"))


@dataclass(frozen=True, eq=False)
class Push:
    """What a backward pass did to an output: the gradient, shaped as its values are."""

    output: Output
    gradient: Array

    @property
    def module(self) -> str:
        return self.output.module


@dataclass(frozen=True, eq=False)
class Pass:
    audit: Audit
    task: int
    order: int  # of its first gradient
    pushes: tuple[Push, ...]

    @property
    def modules(self) -> frozenset[str]:
        return frozenset(each.module for each in self.pushes)

    def of(self, *modules: str) -> list[Push]:
        return [each for each in self.pushes if each.module in modules]


@lru_cache(maxsize=8)
def outputs_of(script: Script) -> tuple[tuple[Audit, tuple[Output, ...]], ...]:
    """All calls that were recorded, one by one and in order, by audit."""
    return tuple((audit, tuple(sorted(_outputs(audit), key=lambda each: each.order))) for audit in script.audits)


def _outputs(audit: Audit) -> Iterator[Output]:
    for event in audit.calls:
        rows = event.arrays.get("rows")
        if rows is None or not len(rows):
            continue
        orders, updates = event.arrays.get("orders"), event.arrays.get("updates")
        if orders is None or updates is None or len(orders) != len(rows):
            orders, updates = np.full(len(rows), event.order), np.full(len(rows), event.update)
        starts = np.flatnonzero(np.r_[True, orders[1:] != orders[:-1]])
        given = event.arrays.get("input")
        if given is not None and len(given) != len(rows):
            given = None
        more = [event.arrays[name] for name in ("input1", "input2") if name in event.arrays]
        for name, array in event.arrays.items():
            if not name.startswith("output") or name.endswith("_stats") or len(array) != len(rows):
                continue
            place = int(name.removeprefix("output"))
            for start, end in zip(starts, np.r_[starts[1:], len(rows)], strict=True):
                part = slice(int(start), int(end))
                values = _by_row(event, place, np.asarray(array[part], dtype=np.float64))
                yield Output(
                    str(event["module"]), event, int(orders[start]), int(updates[start]), rows[part], values, place,
                    None if given is None else np.asarray(given[part], dtype=np.float64),
                    tuple(np.asarray(each[part], dtype=np.float64) for each in more if len(each) == len(rows)),
                )  # fmt: skip


def _by_row(event: Event, place: int, array: Array) -> Array:
    """(critics, rows) was recorded as if rows came first."""
    count = len(array)
    matrix = array.reshape(count, -1)
    outputs = event.get("outputs") or []
    shape = [each for each in (outputs[place].get("shape", []) if place < len(outputs) else []) if each != 1]
    if len(shape) == 2 and shape[1] == count and shape[0] < count:
        return np.asarray(matrix.reshape(-1, count).T)
    return matrix


@lru_cache(maxsize=8)
def passes_of(script: Script) -> tuple[Pass, ...]:
    found: list[Pass] = []
    for audit, outputs in outputs_of(script):
        by_call = {(each.order, each.place): each for each in outputs}
        tasks: dict[int, list[tuple[int, Push]]] = {}
        for event in audit.of("gradient"):
            output = by_call.get((int(event["of"]), int(event["output"])))
            gradient = event.arrays.get("gradient")
            if output is None or gradient is None or len(gradient) != len(output.values):
                continue
            shaped = _by_row(output.event, output.place, np.asarray(gradient, dtype=np.float64))
            if shaped.shape == output.values.shape:
                tasks.setdefault(int(event.get("task") or 0), []).append((event.order, Push(output, shaped)))
        for task, pushes in tasks.items():
            found.append(Pass(audit, task, min(order for order, _ in pushes), tuple(push for _, push in pushes)))
    return tuple(sorted(found, key=lambda each: (each.audit.number, each.order)))


@dataclass(frozen=True, eq=False)
class ActorPass:
    """A pass in which an actor learns through critics, each asked once about its actions."""

    audit: Audit
    actor: tuple[Push, ...]
    critics: tuple[Push, ...]
    order: int

    @property
    def loss(self) -> Event | None:
        """The loss that was run, if it was looked into: the last before, with nothing stepped in between."""
        last = None
        for each in self.audit.of("loss", "step"):
            if each.order > self.order:
                break
            last = each if each.kind == "loss" else None
        return last


def actor_passes(script: Script) -> tuple[ActorPass, ...]:
    """By data flow: the actor acts, and the critic is asked after it, about the same rows, with its action's graph."""
    return tuple(
        each
        for each in beside_actors(script)
        if all(_through(push.output) or _linked(script, each, push) for push in each.critics)
    )


def _through(output: Output) -> bool:
    return any(each.get("attached") for each in output.event.get("inputs") or ())


def _linked(script: Script, each: ActorPass, push: Push) -> bool:
    """Of a critic whose first layer is given the state alone: whether a value in the loss leads on to the actor."""
    loss = each.loss
    own = next((terms for one, terms in each.audit.losses if one is loss), [])
    actors = {network_of(script, actor.module) for actor in each.actor}
    return any(
        term["kind"] == "output" and network_of(script, push.module) in reached and bool(actors & reached)
        for term in own
        for reached in [set(term.get("reached") or ())]
    )


@lru_cache(maxsize=8)
def beside_actors(script: Script) -> tuple[ActorPass, ...]:
    """Passes into an actor and another network that was asked after it about the same rows, by whatever loss."""
    found = []
    acting = {name for name, thing in script.modules.items() if thing.get("acting")}
    alone = _alone(script)
    outputs = {audit.number: said for audit, said in outputs_of(script)}
    for each in passes_of(script):
        actors = [push for push in each.pushes if push.module in acting and push.module not in alone]
        if not actors:
            layers = [push for push in each.pushes if acting.difference(alone) & set(_around(script, push.module))]
            actors = list(_answers(script, layers, outputs.get(each.audit.number, ()), -1))
        if not actors:
            continue
        others = [push for push in each.pushes if push.module not in acting]
        layers = [push for push in others if _beside(script, push.module, actors)]
        if len(layers) < len(others):
            actors += [push for push in layers if push not in actors]
        last = max(push.output.order for push in actors)
        critics = [
            push
            for push in others
            if push not in actors and push.output.order > last and _same_rows(push.output, actors[0].output)
        ]
        if any(_whole(script, push.module) != push.module for push in critics):
            critics = list(_answers(script, critics, outputs.get(each.audit.number, ()), last))
        if critics and len({(push.module, push.output.place) for push in critics}) == len(critics):
            found.append(ActorPass(each.audit, tuple(actors), tuple(critics), each.order))
    return tuple(found)


def _beside(script: Script, name: str, actors: list[Push]) -> bool:
    """Another layer of an actor that is called layer by layer: held by the same optimizer."""
    around = set(_around(script, name))
    held = (script.modules.get(name, {}).get("owners") or {}).keys()
    return any(
        bool(around & set(_around(script, each.module)))
        and held == (script.modules.get(each.module, {}).get("owners") or {}).keys()
        for each in actors
    )


def _answers(script: Script, pushes: list[Push], outputs: tuple[Output, ...], begin: int) -> Iterator[Push]:
    """Of layers that are called one by one the last, with what the first was given; and whatever else is no layer."""
    wholes = {push.module for push in pushes}
    parts: dict[str, list[Push]] = {}
    for push in sorted(pushes, key=lambda each: each.output.order):
        whole = _whole(script, push.module)
        if whole == push.module:
            yield push
        elif not (push.output.event.get("depth") and wholes & set(_around(script, push.module))):
            parts.setdefault(whole, []).append(push)
    for whole, own in parts.items():
        after = begin
        wide = _wide(own[-1].output.event, "outputs", own[-1].output.place)
        calls = [
            each
            for each in outputs
            if begin < each.order <= own[-1].output.order and each.attached and each.place == 0
            and _whole(script, each.module) == whole and each.module != whole
        ]  # fmt: skip
        for push in own:
            if _wide(push.output.event, "outputs", push.output.place) != wide:
                continue
            if wide > 1 and any(_wide(later.output.event, "inputs", 0) == wide for later in own if later is not push):
                continue
            first = next((each for each in calls if after < each.order <= push.output.order), push.output)
            after = push.output.order
            event = push.output.event
            asked = replace(event, detail={**event.detail, "inputs": first.event.get("inputs") or []})
            yield Push(replace(push.output, event=asked, given=first.given, more=first.more), push.gradient)


def network_of(script: Script, name: str) -> str:
    """What a layer that was called by itself is a part of, where that is known."""
    return [name, *_around(script, name)][-1] if script.modules.get(name, {}).get("inside") else name


def _wide(event: Event, side: str, place: int) -> int:
    """Numbers in each row of what a network was given, or said; 0 where that is not known."""
    tensors = event.get(side) or []
    shape = tensors[place].get("shape") if place < len(tensors) else None
    return int(shape[-1]) if shape and len(shape) > 1 else 0


def _around(script: Script, name: str) -> Iterator[str]:
    """The networks that it is a part of, from the inside out."""
    seen = {name}
    while (name := str(script.modules.get(name, {}).get("inside"))) in script.modules and name not in seen:
        seen.add(name)
        yield name


def _whole(script: Script, name: str) -> str:
    """The outermost network that it is a part of. One that is never called itself is not known: of it there are only
    single layers, of which those that the same optimizer holds are taken together."""
    whole = [name, *_around(script, name)][-1]
    thing = script.modules.get(whole, {})
    if whole != name or sum((thing.get("layers") or {}).values()) != 1:
        return whole
    return " ".join(["layers of", *sorted(thing.get("owners") or ())])


def _alone(script: Script) -> frozenset[str]:
    """Networks that act and are also trained with chosen actions, in passes of their own: Q-networks."""
    return frozenset(
        name for _, term in script.terms("regression") if "index" in term.arrays for name in term.get("reached") or ()
    )


def _same_rows(one: Output, two: Output) -> bool:
    if len(one.rows) != len(two.rows):
        return False
    known = (one.rows >= 0) & (two.rows >= 0)
    return bool(known.sum() < 4 or (one.rows[known] == two.rows[known]).mean() > 0.9)
