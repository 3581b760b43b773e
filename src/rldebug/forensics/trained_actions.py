"""Trained actions: the action that a loss holds beside each observation, and the one that was executed from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.columns import learned
from rldebug.evidence.script import UNKNOWN, Audit, Event, Nodes, Script
from rldebug.forensics.batches import Call, ambiguous, calls_of
from rldebug.forensics.passes import Output, outputs_of

_TOLD = 32  # rows
_FEWEST = 8  # that say by what the elements of an observation were scaled


@dataclass(frozen=True, eq=False)
class Trained:
    """Rows of one loss with their actions; only rows whose observation is known and like no other."""

    audit: Audit
    term: Event
    places: NDArray[np.int64]
    action: NDArray[np.float64]  # (rows, elements)
    discrete: bool

    @property
    def executed(self) -> NDArray[np.float64]:
        """From those observations; NaN where no step was taken, or the environment ignored it."""
        return executed(self.audit.nodes, self.places)[:, : self.action.shape[1]]


def executed(nodes: Nodes, places: NDArray[np.int64]) -> NDArray[np.float64]:
    if not len(nodes):
        return np.full((len(places), nodes.action.shape[1] if nodes.action.ndim > 1 else 0), np.nan)
    known = places >= 0
    done = np.where(known, nodes.acted[places] & ~nodes.phantom[places], False)
    return np.where(done[:, None], nodes.action[places], np.nan)


@lru_cache(maxsize=8)
def trained_actions(script: Script) -> tuple[Trained, ...]:
    return tuple(_trained(script))


def _trained(script: Script) -> Iterator[Trained]:
    before: dict[tuple[int, int], list[Call]] = {}
    for call in calls_of(script):
        if call.event["match"] == "slice" and call.event["grad"] and call.input is not None:
            before.setdefault((call.audit.number, call.update), []).append(call)
    apart: dict[tuple[int, int], list[Output]] = {}
    for audit, outputs in outputs_of(script):
        for each in outputs:
            if each.more and each.attached and not each.event.get("acting"):
                apart.setdefault((audit.number, each.update), []).append(each)
    told = _told_by_policy(script)
    for audit, term in script.events("term"):
        rows = term.arrays.get("rows")
        if rows is None or not len(rows) or not len(audit.nodes) or term["kind"] not in ("policy", "regression"):
            continue
        if _more_given(term):
            continue
        places = audit.nodes.index(rows)
        sure = ~ambiguous(audit.nodes, places)
        width = audit.nodes.action.shape[1]
        action, discrete = _action(audit, term, before.get((audit.number, term.update), []) if not told else [])
        if action is None and term["kind"] == "regression" and not told:
            action = _second_input(script, term, apart.get((audit.number, term.update), []), width)
        if action is None or len(action) != len(rows) or action.shape[1] != width or not sure.any():
            continue
        yield Trained(audit, term, places[sure], action[sure], discrete)


def _more_given(term: Event) -> bool:
    """Whether a network was given more rows than are learned from, and it is not known which these are: observations
    and those that follow go through a critic together, with actions of which half were never executed."""
    rows, count = term.arrays["rows"], int(term.get("rows") or 0)
    if term["kind"] != "regression" or not 1 < count < len(rows):
        return False
    return bool(len(rows) % count or (rows.reshape(-1, count) != rows[:count]).any())


def _picked(term: Event, given: NDArray[Any]) -> NDArray[Any]:
    """Of all rows that a network was given, those that the term is about."""
    places = term.arrays.get("picked")
    return given if places is None or term.get("given") != len(given) else given[places]


def _told_by_policy(script: Script) -> bool:
    """The log-probs of a loss are those of the executed actions: what its critic is given beside the observation is
    something else then, such as the time that is left."""
    seen = alike = 0
    for audit, term in script.events("term"):
        given = term.arrays.get("action") if term["kind"] == "policy" else None
        rows = term.arrays.get("rows")
        if given is None or rows is None or not len(rows) or given.size % len(rows):
            continue
        done = executed(audit.nodes, audit.nodes.index(rows))
        action = np.asarray(given, dtype=np.float64).reshape(len(rows), -1)
        if action.shape[1] == done.shape[1]:
            known = np.isfinite(done).all(axis=1)
            seen += int(known.sum())
            alike += int(equal(done[known], action[known]).sum())
    return seen >= _TOLD and alike >= 0.9 * seen


def _action(audit: Audit, term: Event, slices: list[Call]) -> tuple[NDArray[np.float64] | None, bool]:
    for name, discrete in (("index", True), ("action", False)):
        found = term.arrays.get(name)
        if found is not None:
            count = len(term.arrays["rows"])
            if found.size % max(count, 1):
                return None, discrete
            return np.asarray(found, dtype=np.float64).reshape(count, -1), discrete
    if term["kind"] != "regression" or term.get("match") != "slice":
        return None, False
    # A critic of state and action, called on both side by side: the columns that are not the observation.
    wide = audit.nodes.obs.shape[1]
    rows = term.arrays["rows"]
    for call in reversed(slices):
        if call.order >= term.order or call.module not in (term.get("reached") or ()):
            continue
        if np.array_equal(_picked(term, call.rows), rows):
            found = _beside(audit.nodes, call, wide)
            return None if found is None else _picked(term, found), False
    return None, False


def _second_input(script: Script, term: Event, asked: list[Output], width: int) -> NDArray[np.float64] | None:
    """A critic that takes state and action one after the other: its second input. Two critics at once repeat rows."""
    rows, reached = term.arrays["rows"], set(term.get("reached") or ())
    for each in reversed(asked):
        own = each.module in reached or script.modules.get(each.module, {}).get("inside") in reached
        action = next((given for given in each.more if given.shape[1:] == (width,)), None)
        if action is not None and own and each.order <= term.order and "picked" in term.arrays:
            if np.array_equal(_picked(term, each.rows), rows):
                return _picked(term, action)
            continue
        count = len(each.rows)
        if each.order > term.order or not own or action is None or not count or len(rows) % count:
            continue
        times = len(rows) // count
        if (rows.reshape(times, count) == each.rows).all():
            return np.tile(action, (times, 1))
        if (rows.reshape(count, times) == each.rows[:, None]).all():
            return np.repeat(action, times, axis=0)
    return None


def _beside(nodes: Nodes, call: Call, wide: int) -> NDArray[np.float64] | None:
    given = call.input
    known = call.places >= 0
    if given is None or not wide or given.shape[1] <= wide or not known.any():
        return None
    obs = nodes.obs[call.places[known]]
    for part, rest in ((given[known, :wide], given[:, wide:]), (given[known, -wide:], given[:, :-wide])):
        if is_observation(obs, part):
            return rest
    return None


def is_observation(obs: NDArray[np.float32], part: NDArray[np.float64]) -> bool:
    """Rows of an input that are those observations, as they are or each element scaled by a factor and a shift."""
    if np.allclose(part, obs, rtol=1e-4, atol=1e-5, equal_nan=True):
        return True
    kept = np.isfinite(obs).all(axis=1)
    if kept.sum() < _FEWEST:
        return False
    return learned(obs[kept].astype(np.float64), part[kept].astype(np.float64)) is not None


def equal(nodes_action: NDArray[np.float64], action: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Rows that are equal, up to float32."""
    return np.asarray((np.abs(nodes_action - action) <= 1e-4 * (1 + np.abs(action))).all(axis=1))


def shifted(nodes: Nodes, places: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Places of the observations acted on so many steps later (earlier, if negative) in the same lane, or UNKNOWN."""
    table = _line(nodes)
    order, rank = table
    found = np.full(len(places), UNKNOWN, dtype=np.int64)
    for row, place in enumerate(places):
        if place < 0 or rank[place] < 0:
            continue
        goal = rank[place] + steps
        if 0 <= goal < len(order):
            other = int(order[goal])
            own = nodes.stream[other] == nodes.stream[place] and nodes.lane[other] == nodes.lane[place]
            # Rows of a replay are remembered with gaps between them: only a true neighbour counts.
            if own and abs(int(nodes.call[other] - nodes.call[place])) <= 2 * abs(steps):
                found[row] = other
    return found


_LINES: dict[int, tuple[Nodes, tuple[NDArray[np.int64], NDArray[np.int64]]]] = {}


def _line(nodes: Nodes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Acted places by stream, lane and time, and the rank of each place among them."""
    kept = _LINES.get(id(nodes))
    if kept is not None and kept[0] is nodes:
        return kept[1]
    acted = np.flatnonzero(nodes.acted & ~nodes.phantom)
    order = acted[np.lexsort((nodes.id[acted], nodes.lane[acted], nodes.stream[acted]))]
    rank = np.full(len(nodes), UNKNOWN, dtype=np.int64)
    rank[order] = np.arange(len(order))
    if len(_LINES) > 64:
        _LINES.clear()
    _LINES[id(nodes)] = (nodes, (order, rank))
    return order, rank


def beside(nodes: Nodes, places: NDArray[np.int64], lanes: int, by: int) -> NDArray[np.int64]:
    """Places of the observations of the same step, `by` lanes further."""
    table = {
        (int(nodes.stream[place]), int(nodes.call[place]), int(nodes.lane[place])): int(place)
        for place in np.flatnonzero(nodes.acted)
    }
    return np.array(
        [
            UNKNOWN
            if place < 0
            else table.get(
                (int(nodes.stream[place]), int(nodes.call[place]), (int(nodes.lane[place]) + by) % lanes), UNKNOWN
            )
            for place in places
        ],
        dtype=np.int64,
    )
