"""Whole episodes side by side in one batch, filled up to the length of the longest: which step each row is, or none.

A network with a memory is given episodes as (episodes, time) or (time, episodes). Each sequence looks like one of the
episodes that were acted, step by step, and then the same row over and over: the filler. An episode that looks like
another is told by its actions, and by the order in which both were acted. Pieces of episodes are told where nothing
else looks like their steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Audit, Event
from rldebug.forensics.node_places import Array, Flags, Ints, after, begins, given_up, places_of, same

_EPISODES = 4  # in a batch
_ALL = 0.9  # of the sequences are episodes


@dataclass(frozen=True, eq=False)
class Padded:
    """A call that learns from episodes side by side."""

    audit: Audit
    call: Event
    order: int  # of the call; an event holds several
    shape: tuple[int, int]
    rows: Ints  # ids of the steps; UNKNOWN where there is none
    filler: Flags
    last: Flags  # the last step of an episode

    @property
    def count(self) -> int:
        return len(self.rows)


@lru_cache(maxsize=256)
def padded_calls(audit: Audit) -> tuple[Padded, ...]:
    """Of calls with gradients that are given sequences."""
    nodes = audit.nodes
    if not len(nodes) or not any(len(_shape(each)) >= 3 for each in audit.calls if each["grad"]):
        return ()
    episodes = _Episodes(audit)
    found = []
    for event in audit.calls:
        if not event["grad"] or event.get("acting") or "rows" not in event.arrays or len(_shape(event)) < 3:
            continue
        for order, block in _blocks(event):
            made = _of_call(audit, episodes, event, order, block)
            if made is not None:
                found.append(made)
    return tuple(sorted(found, key=lambda each: each.order))


@lru_cache(maxsize=256)
def padded(audit: Audit) -> Audit:
    """The audit, with the true step in each row of such calls and of the losses made of them, and none in filler."""
    calls = padded_calls(audit)
    if not calls:
        return audit
    nodes = audit.nodes
    sure = np.zeros(len(nodes), dtype=bool)
    changed: dict[int, Event] = {}
    for call in calls:
        sure[places_of(nodes, call.rows[~call.filler])] = True
        event = changed.get(call.call.order, call.call)
        rows = event.arrays["rows"].copy()
        rows[_block(event, call.order)] = call.rows
        changed[event.order] = replace(event, arrays={**event.arrays, "rows": rows})
    for call, term in padded_terms(audit):
        changed[term.order] = _with_rows(call, term)
    events = tuple(changed.get(each.order, each) if each.kind in ("call", "term") else each for each in audit.events)
    return replace(audit, nodes=replace(nodes, alike=np.where(sure, 0, nodes.alike)), events=events)


def padded_terms(audit: Audit) -> Iterator[tuple[Padded, Event]]:
    """Terms of losses that have a number for each row of such a call, or for each that is a step."""
    calls = padded_calls(audit)
    for _, terms in audit.losses if calls else ():
        for term in terms:
            near = [each for each in calls if each.order < term.order and each.call["module"] in _reached(audit, each)]
            if near and _size(term) in (near[-1].count, int((~near[-1].filler).sum())):
                yield near[-1], term


def _reached(audit: Audit, call: Padded) -> set[str]:
    return {str(name) for loss, _ in audit.losses if loss.order > call.order for name in loss.get("reached") or ()}


def _size(term: Event) -> int:
    names = {"regression": "prediction", "policy": "logp", "entropy": "entropy"}
    column = term.arrays.get(names.get(str(term["kind"]), ""), term.arrays.get("weight"))
    return 0 if column is None else int(np.size(column))


def _with_rows(call: Padded, term: Event) -> Event:
    if _size(term) != call.count:
        return replace(term, arrays={**term.arrays, "rows": call.rows[~call.filler]})
    return replace(
        term,
        arrays={**term.arrays, "rows": call.rows, "filler": call.filler},
        detail={**term.detail, "filler": int(call.filler.sum())},
    )


def _shape(event: Event) -> list[int]:
    inputs = event.get("inputs") or ()
    return list(inputs[0]["shape"]) if inputs else []


def _blocks(event: Event) -> Iterator[tuple[int, Flags]]:
    orders = event.arrays.get("orders")
    if orders is None or len(orders) != len(event.arrays["rows"]):
        yield event.order, np.ones(len(event.arrays["rows"]), dtype=bool)
        return
    for order in np.unique(orders).tolist():
        yield order, np.asarray(orders == order)


def _block(event: Event, order: int) -> Flags:
    return next(block for number, block in _blocks(event) if number == order)


class _Episodes:
    """The whole episodes of an audit, by what their steps look like."""

    def __init__(self, audit: Audit) -> None:
        nodes = audit.nodes
        self.look, self.action = same(nodes), nodes.action
        onward = after(nodes)
        every = np.arange(len(nodes))
        done = nodes.terminated | nodes.truncated | given_up(nodes, every, onward)
        self.steps: list[Ints] = []
        self.by_look: dict[bytes, list[int]] = {}
        first = begins(nodes)
        for start in np.flatnonzero(first & nodes.acted & ~nodes.phantom).tolist():
            made, here = [start], start
            while not done[here] and (on := int(onward[here])) > here and nodes.acted[on] and not first[on]:
                made.append(on)
                here = on
            if done[here]:
                steps = np.array(made, dtype=np.int64)
                self.by_look.setdefault(self.look[steps].tobytes(), []).append(len(self.steps))
                self.steps.append(steps)
        self.lengths = sorted({len(each) for each in self.steps}, reverse=True)

    def like(self, look: Ints, given: NDArray[np.float64] | None) -> list[int]:
        """The longest episodes that these rows begin with, where the same row follows over and over."""
        still = len(look)  # the rows from here on are alike
        while still > 1 and look[still - 2] == look[-1] and (given is None or (given[still - 2] == given[-1]).all()):
            still -= 1
        for length in self.lengths:
            if length == len(look) or still - 1 <= length < len(look):
                found = self.by_look.get(look[:length].tobytes())
                if found:
                    return found
        return []


def _of_call(audit: Audit, episodes: _Episodes, event: Event, order: int, block: Flags) -> Padded | None:
    nodes, size = audit.nodes, int(block.sum())
    places = places_of(nodes, event.arrays["rows"][block])
    look = np.where(places >= 0, episodes.look[places], UNKNOWN)
    given = event.arrays.get("input")
    inputs = None if given is None or len(given) != len(block) else given[block].reshape(size, -1).astype(np.float64)
    actions = _actions(audit, order, size)
    first, second = _shape(event)[:2]
    for wide, turned in ((first, False), (second, True)):
        if wide < _EPISODES or size % wide or size // wide < 2:
            continue
        grid = np.arange(size).reshape(wide, -1) if not turned else np.arange(size).reshape(-1, wide).T
        made = _matched(episodes, grid, look, inputs, actions)
        if made is None:
            made = _pieces(audit, grid, places, inputs)
        if made is not None:
            rows = np.where(made >= 0, nodes.id[made], UNKNOWN)
            last = np.zeros(size, dtype=bool)
            for sequence in grid:
                known = sequence[made[sequence] >= 0]
                last[known[-1:]] = True
            shape = (wide, size // wide) if not turned else (size // wide, wide)
            return Padded(audit, event, order, shape, rows, made < 0, last)
    return None


def _matched(episodes: _Episodes, grid: Ints, look: Ints, inputs: Array | None, actions: Array | None) -> Ints | None:
    """Places of the steps that the rows are; None where too few of the sequences are episodes."""
    found = np.full(len(look), UNKNOWN, dtype=np.int64)
    taken: set[int] = set()
    missed = 0
    for sequence in grid:
        able = episodes.like(look[sequence], None if inputs is None else inputs[sequence])
        free = [each for each in able if each not in taken]
        if not free:
            missed += 1
            if missed > (1.0 - _ALL) * len(grid):
                return None
            continue
        chosen = next((each for each in free if _did(episodes, each, sequence, actions)), free[0])
        taken.add(chosen)
        found[sequence[: len(episodes.steps[chosen])]] = episodes.steps[chosen]
    return found


def _pieces(audit: Audit, grid: Ints, places: Ints, inputs: Array | None) -> Ints | None:
    """Pieces of episodes, as long as they come, of steps that nothing else looks like; then one and the same row."""
    nodes = audit.nodes
    filler = places < 0
    if inputs is None or not filler.any() or filler.mean() > 0.9 or (inputs[filler] != inputs[filler][0]).any():
        return None
    if (nodes.alike[places[~filler]] != 0).any():
        return None
    onward = after(nodes)
    for sequence in grid:
        length = int((~filler[sequence]).sum())
        steps = places[sequence[:length]]
        if not length or (steps < 0).any() or (onward[steps[:-1]] != steps[1:]).any() or not nodes.acted[steps].all():
            return None
    return places


def _did(episodes: _Episodes, number: int, sequence: Ints, actions: Array | None) -> bool:
    steps = episodes.steps[number]
    if actions is None or actions.shape[1] != episodes.action.shape[1]:
        return True
    return bool(np.abs(actions[sequence[: len(steps)]] - episodes.action[steps]).max() < 1e-5)


def _actions(audit: Audit, order: int, size: int) -> Array | None:
    """The actions of the rows, by the first loss after the call that has them."""
    for _, terms in audit.losses:
        for term in terms:
            chosen = term.arrays.get("index", term.arrays.get("action"))
            if term.order > order and chosen is not None and len(chosen) == size:
                return np.asarray(chosen, dtype=np.float64).reshape(size, -1)
    return None


__all__ = ["Padded", "padded", "padded_calls", "padded_terms"]
