"""Rows of a target beside what happened there: reward, end, values, and which row came next. On-policy only.

The value of an observation is the one of the weights it was acted with: calls that were made after as many optimizer
steps as the acting. Training re-evaluates the same rows later, with other weights; those numbers are in no target.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Audit, Event, Nodes, Script
from rldebug.finding import Where

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Site = tuple[Any, ...]  # where in the program a term is made, and of which networks
Channel = tuple[str, str]  # a module, and which of its outputs

_SAME = 0.8  # share of the rows of a loss that come from one stretch of acting: it is on-policy


@dataclass(frozen=True, eq=False)
class Steps:
    """One row for each step that has a target. Places refer to rows of this table; UNKNOWN where there is none."""

    target: Array
    reward: Array
    value: Array  # of the observation itself, at acting time; NaN where it is not known
    value_after: Array  # of what the program acted on next, which after an end is the reset observation
    value_next: Array  # of where the step truly led
    after: Ints  # place of the step that was taken next in the lane
    before: Ints
    terminated: Flags
    truncated: Flags
    phantom: Flags
    first: Flags  # first step of an episode
    end: Flags  # the program stopped acting here to learn; no end of an episode
    lane: Ints
    time: Ints
    batch: Ints
    audit: Ints
    node: Ints  # place among the nodes of the audit

    def __len__(self) -> int:
        return len(self.target)

    def at(self, name: str, places: Ints) -> Array:
        """A column at the given places, NaN where there is none."""
        column = np.asarray(getattr(self, name), dtype=np.float64)
        return np.where(places >= 0, column[places], np.nan) if len(column) else column

    def next(self, name: str) -> Array:
        return self.at(name, self.after)

    def last(self, name: str) -> Array:
        return self.at(name, self.before)

    @property
    def done(self) -> Flags:
        return np.asarray(self.terminated | self.truncated)

    @property
    def inner(self) -> Flags:
        """Steps that another one of the table follows, in the same episode."""
        return np.asarray(~self.done & ~self.phantom & (self.after >= 0) & ~self.end)

    @property
    def plain(self) -> Flags:
        """Inner steps that touch no end of an episode, neither before nor after: mistakes at ends do not reach them."""
        ends = np.append(self.done | self.phantom, False)[self.after]
        return np.asarray(self.inner & ~self.first & ~ends)

    def of(self, batch: int) -> Steps:
        return self.only(self.batch == batch)

    def only(self, keep: Flags) -> Steps:
        """A part of the table, with places that are right again."""
        place = np.full(len(self) + 1, UNKNOWN, dtype=np.int64)
        place[:-1][keep] = np.arange(int(keep.sum()))
        cut = {each.name: getattr(self, each.name)[keep] for each in fields(self)}
        return Steps(**{**cut, "after": place[cut["after"]], "before": place[cut["before"]]})

    def moved(self, places: Ints) -> Steps:
        """With the target of another row in each row."""
        return replace(self, target=self.target[places])


def joined(parts: Sequence[Steps]) -> Steps:
    start, found = 0, []
    for part in parts:
        shifted = {
            name: np.where(getattr(part, name) >= 0, getattr(part, name) + start, UNKNOWN)
            for name in ("after", "before")
        }
        found.append(replace(part, **shifted))
        start += len(part)
    return Steps(**{each.name: np.concatenate([getattr(part, each.name) for part in found]) for each in fields(Steps)})


@dataclass(frozen=True, eq=False)
class Group:
    """All terms of one place in the program, and the table of each stretch of acting that they learn from."""

    site: Site
    terms: tuple[Event, ...]
    steps: Steps


def places_of(nodes: Nodes, ids: Ints) -> Ints:
    """As Nodes.index, quickly: ids rise."""
    if not len(nodes):
        return np.full(len(ids), UNKNOWN, dtype=np.int64)
    places = np.minimum(np.searchsorted(nodes.id, ids), len(nodes) - 1)
    return np.where(nodes.id[places] == ids, places, UNKNOWN)


def after(nodes: Nodes) -> Ints:
    """What was acted on next, as places of the nodes. The final observation is not acted on: one further."""
    places = places_of(nodes, nodes.succ)
    for _ in range(2):
        idle = (places >= 0) & ~nodes.acted[places] & (np.append(nodes.succ, UNKNOWN)[places] >= 0)
        onward = places_of(nodes, np.where(idle, nodes.succ[places], UNKNOWN))
        places = np.where(idle & (onward >= 0), onward, places)
    return np.asarray(places)


@lru_cache(maxsize=64)
def same(nodes: Nodes) -> Ints:
    """For each node the first place of one with the same observation; rows of networks are found at the newest."""
    known = np.isfinite(nodes.obs_stats).all(axis=1)
    look = np.concatenate([nodes.obs_stats, np.nan_to_num(nodes.obs, nan=-7.0)], axis=1)
    _, first, which = np.unique(look, axis=0, return_index=True, return_inverse=True)
    return np.where(known, first[np.ravel(which)], np.arange(len(nodes)))


def groups(script: Script, kind: str, array: str) -> list[Group]:
    """Tables of the terms of a kind, by the place in the program. `array`: which of the term's arrays is the target."""
    found: dict[Site, list[tuple[Audit, int, list[Event]]]] = {}
    for audit in script.audits:
        for (site, base), terms in _stretches(audit, kind, array).items():
            found.setdefault(site, []).append((audit, base, terms))
    made: list[Group] = []
    for site, stretches in found.items():
        parts = [_table(audit, base, terms, array, number) for number, (audit, base, terms) in enumerate(stretches)]
        kept = [each for each in parts if each is not None and len(each)]
        if kept:
            made.append(Group(site, tuple(each for _, _, terms in stretches for each in terms), joined(kept)))
    return made


def site_of(term: Event, number: int) -> Site:
    """Which term of the program it is. Lines are not known in every audit: by its making, and its number in a loss."""
    return (term["kind"], term.get("op"), tuple(sorted(term.get("reached") or ())), number)


def sited(audit: Audit, kind: str) -> Iterator[tuple[Site, Event]]:
    for loss, terms in audit.losses:
        if kind == "policy" and loss.get("how") == "grad":
            continue  # a gradient that is asked for may be climbed as well as descended
        for number, term in enumerate(each for each in terms if each["kind"] == kind):
            yield site_of(term, number), term


def where_of(terms: Sequence[Event]) -> Where:
    """The line of the program, as far as one of the terms knows it."""
    return next((each.where for each in terms if each.get("line")), terms[0].where if terms else Where())


def column_of(term: Event, array: str) -> Array | None:
    """The term's array, where it has one number for each row of the network's input."""
    ids, numbers = term.arrays.get("rows"), term.arrays.get(array)
    if ids is None or numbers is None or len(ids) < 1 or np.size(numbers) != len(ids):
        return None
    column = np.ravel(numbers).astype(np.float64)
    if array == "weight":
        # As an advantage: what is positive makes the action more likely, whichever way the loss is written.
        column = -np.sign(float(term["coefficient"])) * column
        mask = term.arrays.get("mask")
        if mask is not None and np.size(mask) == len(column):
            column = np.where(np.ravel(mask) != 0, column, np.nan)
    return column


def _stretches(audit: Audit, kind: str, array: str) -> dict[tuple[Site, int], list[Event]]:
    found: dict[tuple[Site, int], list[Event]] = {}
    if not len(audit.nodes):
        return found
    for site, term in sited(audit, kind):
        if ("index" in term.arrays and kind == "regression") or column_of(term, array) is None:
            continue
        base = base_update(audit.nodes, term)
        if base is not None:
            found.setdefault((site, base), []).append(term)
    return found


def base_update(nodes: Nodes, term: Event) -> int | None:
    """Optimizer steps before the acting that the term learns from, where nearly all of it is one stretch of acting."""
    places = places_of(nodes, term.arrays["rows"])
    acted = places[(places >= 0) & np.where(places >= 0, nodes.acted[places], False)]
    if len(acted) < _SAME * len(places) or not len(acted):
        return None
    update, count = Counter(nodes.update[acted].tolist()).most_common(1)[0]
    return int(update) if count >= _SAME * len(acted) else None


def _table(audit: Audit, base: int, terms: Sequence[Event], array: str, number: int) -> Steps | None:
    nodes = audit.nodes
    target: dict[int, float] = {}
    for term in terms:
        numbers = column_of(term, array)
        assert numbers is not None
        places = places_of(nodes, term.arrays["rows"])
        good = (places >= 0) & np.isfinite(numbers)
        good &= np.where(good, nodes.acted[places] & (nodes.alike[places] == 0) & (nodes.update[places] == base), False)
        for place, each in zip(places[good].tolist(), numbers[good].tolist(), strict=True):
            target.setdefault(place, each)
    if len(target) < 2:
        return None
    rows = np.array(sorted(target), dtype=np.int64)
    value = _values(audit, base, terms if terms[0]["kind"] == "regression" else _critic(audit, base), rows)
    onward = after(nodes)
    place = {int(each): number for number, each in enumerate(rows)}
    follow = np.array([place.get(int(each), UNKNOWN) for each in onward[rows]], dtype=np.int64)
    before = np.full(len(rows), UNKNOWN, dtype=np.int64)
    before[follow[follow >= 0]] = np.flatnonzero(follow >= 0)
    next_acted = np.where(onward[rows] >= 0, nodes.acted[onward[rows]] & (nodes.update[onward[rows]] == base), False)
    given_up = _given_up(nodes, rows, onward[rows])
    done = nodes.terminated[rows] | nodes.truncated[rows] | given_up
    nxt = places_of(nodes, nodes.nxt[rows])
    lane = nodes.lane[rows] + 4096 * nodes.stream[rows]
    time = np.zeros(len(rows), dtype=np.int64)
    for each in np.unique(lane):
        time[lane == each] = np.argsort(np.argsort(nodes.call[rows][lane == each]))
    alike = same(nodes)
    by_look = {int(alike[each]): number for each, number in value.items()}
    look = np.array([by_look.get(int(each), np.nan) for each in alike] + [np.nan])
    return Steps(
        target=np.array([target[int(each)] for each in rows]),
        reward=nodes.reward[rows],
        value=look[rows],
        value_after=look[np.where(onward[rows] >= 0, onward[rows], len(nodes))],
        value_next=look[np.where(nxt >= 0, nxt, len(nodes))],
        after=follow,
        before=before,
        terminated=nodes.terminated[rows],
        truncated=(nodes.truncated[rows] | given_up) & ~nodes.terminated[rows],
        phantom=nodes.phantom[rows],
        first=nodes.first[rows],
        end=~done & ~nodes.phantom[rows] & (follow < 0) & ~next_acted,
        lane=lane,
        time=time,
        batch=np.full(len(rows), audit.number * 1000 + number, dtype=np.int64),
        audit=np.full(len(rows), audit.number, dtype=np.int64),
        node=rows,
    )


def _given_up(nodes: Nodes, rows: Ints, onward: Ints) -> Flags:
    """Steps after which the program reset an environment that had not ended: a time limit of its own."""
    newest: dict[tuple[int, int], int] = {}
    for stream, lane, id in zip(nodes.stream.tolist(), nodes.lane.tolist(), nodes.id.tolist(), strict=True):
        newest[stream, lane] = max(newest.get((stream, lane), id), id)
    safe = np.where(onward >= 0, onward, 0)
    left = (onward >= 0) & ~nodes.acted[safe] & (nodes.succ[safe] < 0)
    later = [newest[int(nodes.stream[each]), int(nodes.lane[each])] > int(nodes.id[each]) for each in safe]
    return np.asarray(left & np.array(later, dtype=bool) & ~nodes.terminated[rows])


def _values(audit: Audit, base: int, terms: Sequence[Event], rows: Ints) -> Mapping[int, float]:
    """Place of a node -> its value with the weights of the acting. The channel is known by what the loss predicts."""
    # Where the policy is stepped first, the critic still has the weights of the acting: its numbers tell.
    start = min((each.update for each in terms), default=base)
    predicted = _predicted(audit, start, terms)
    best: tuple[float, Mapping[int, float]] = (0.0, {})
    for table in channels(audit, base).values():
        both = [each for each in predicted if each in table]
        near = [abs(table[each] - predicted[each]) <= 1e-4 * (1.0 + abs(predicted[each])) for each in both]
        alike = float(np.mean(near)) if near else 0.0
        spread = len({round(table[each], 6) for each in both}) > 1
        covered = float(np.mean([int(each) in table for each in rows]))
        score = covered * alike if predicted else 0.0
        if alike >= 0.95 and spread and score > best[0]:
            best = (score, table)
    return {**predicted, **best[1]} if start == base or best[1] else {}


def _critic(audit: Audit, base: int) -> list[Event]:
    """The terms of the first regression that learns from the same stretch of acting."""
    found = [each for (_, start), each in _stretches(audit, "regression", "prediction").items() if start == base]
    return found[0] if found else []


def _predicted(audit: Audit, base: int, terms: Sequence[Event]) -> dict[int, float]:
    """What the loss predicts for rows, while the weights are still those of the acting."""
    found: dict[int, float] = {}
    for term in terms:
        numbers = column_of(term, "prediction")
        if term.update != base or numbers is None:
            continue
        for place, each in zip(places_of(audit.nodes, term.arrays["rows"]).tolist(), numbers.tolist(), strict=True):
            if place >= 0:
                found.setdefault(place, each)
    return found


def channels(audit: Audit, base: int) -> dict[Channel, dict[int, float]]:
    """Outputs of one number per row, by the place of the row's node, with the weights after `base` optimizer steps."""
    found: dict[Channel, dict[int, float]] = {}
    for event in audit.calls:
        ids = event.arrays.get("rows")
        if ids is None or not len(ids):
            continue
        updates = event.arrays.get("updates")
        now = (
            updates == base
            if updates is not None and len(updates) == len(ids)
            else np.full(len(ids), event.update == base)
        )
        places = places_of(audit.nodes, ids)
        now = now & (places >= 0)
        if not now.any():
            continue
        for name, numbers in _single(event, len(ids)):
            table = found.setdefault((str(event["module"]), name), {})
            for place, each in zip(places[now].tolist(), numbers[now].tolist(), strict=True):
                table.setdefault(place, each)
    return found


def is_output(name: str, output: NDArray[Any], rows: int) -> bool:
    return (
        name.startswith("output") and not name.endswith("_stats") and len(output) == rows and output.dtype.kind == "f"
    )


def _single(event: Event, rows: int) -> Iterator[tuple[str, Array]]:
    """Its outputs of one column; of wider ones the last column, where a value head may be."""
    for name, output in event.arrays.items():
        if not is_output(name, output, rows):
            continue
        matrix = output.reshape(rows, -1).astype(np.float64)
        if matrix.shape[1] == 1:
            yield name, matrix[:, 0]
        elif 1 < matrix.shape[1] <= 32:
            yield f"{name}[-1]", matrix[:, -1]
