"""Rows of a target beside what happened there: reward, end, values, and which row came next. On-policy only.

The value of an observation is the one of the weights it was acted with: calls that were made after as many optimizer
steps as the acting. Training re-evaluates the same rows later, with other weights; those numbers are in no target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from rldebug.evidence.script import UNKNOWN, Audit, Event, Nodes, Script
from rldebug.finding import Where
from rldebug.forensics.acting_values import by_look, channels, is_output, values_of
from rldebug.forensics.node_places import (
    Array,
    Flags,
    Ints,
    Site,
    after,
    base_update,
    begins,
    column_of,
    given_up,
    places_of,
    same,
    site_of,
    sited,
)
from rldebug.forensics.told_apart import told_apart


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
        """With the target of another row in each row; NaN where that row is not known."""
        return replace(self, target=np.where(places >= 0, self.target[places], np.nan))


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


def groups(script: Script, kind: str, array: str) -> list[Group]:
    """Tables of the terms of a kind, by the place in the program. `array`: which of the term's arrays is the target."""
    found: dict[Site, list[tuple[Audit, int, list[Event]]]] = {}
    for audit in told_apart(script):
        for (site, base), terms in _stretches(audit, kind, array).items():
            found.setdefault(site, []).append((audit, base, terms))
    made: list[Group] = []
    for site, stretches in found.items():
        parts = [_table(audit, base, terms, array, number) for number, (audit, base, terms) in enumerate(stretches)]
        kept = [each for each in parts if each is not None and len(each)]
        if kept:
            made.append(Group(site, tuple(each for _, _, terms in stretches for each in terms), joined(kept)))
    return made


def where_of(terms: Sequence[Event]) -> Where:
    """The line of the program, as far as one of the terms knows it."""
    return next((each.where for each in terms if each.get("line")), terms[0].where if terms else Where())


def _stretches(audit: Audit, kind: str, array: str) -> dict[tuple[Site, int], list[Event]]:
    found: dict[tuple[Site, int], list[Event]] = {}
    if not len(audit.nodes):
        return found
    for site, term in sited(audit, kind):
        if ("index" in term.arrays and kind == "regression") or column_of(term, array) is None:
            continue
        base = base_update(audit, term)
        if base is not None:
            found.setdefault((site, base), []).append(term)
    return found


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
    value = values_of(audit, base, terms if terms[0]["kind"] == "regression" else _critic(audit, base), rows)
    onward = after(nodes)
    place = {int(each): number for number, each in enumerate(rows)}
    follow = np.array([place.get(int(each), UNKNOWN) for each in onward[rows]], dtype=np.int64)
    before = np.full(len(rows), UNKNOWN, dtype=np.int64)
    before[follow[follow >= 0]] = np.flatnonzero(follow >= 0)
    next_acted = np.where(onward[rows] >= 0, nodes.acted[onward[rows]] & (nodes.update[onward[rows]] == base), False)
    left = given_up(nodes, rows, onward[rows])
    done = nodes.terminated[rows] | nodes.truncated[rows] | left
    nxt = places_of(nodes, nodes.nxt[rows])
    nxt = np.where((nxt >= 0) & done & begins(nodes)[nxt], UNKNOWN, nxt)  # where it ended nobody was told
    lane = nodes.lane[rows] + 4096 * nodes.stream[rows]
    look = by_look(audit, value)
    return Steps(
        target=np.array([target[int(each)] for each in rows]),
        reward=nodes.reward[rows],
        value=look[rows],
        value_after=look[np.where(onward[rows] >= 0, onward[rows], len(nodes))],
        value_next=look[np.where(nxt >= 0, nxt, len(nodes))],
        after=follow,
        before=before,
        terminated=nodes.terminated[rows],
        truncated=(nodes.truncated[rows] | left) & ~nodes.terminated[rows],
        phantom=nodes.phantom[rows],
        first=begins(nodes)[rows],
        end=~done & ~nodes.phantom[rows] & (follow < 0) & ~next_acted,
        lane=lane,
        time=_times(nodes, rows, base),
        batch=np.full(len(rows), audit.number * 1000 + number, dtype=np.int64),
        audit=np.full(len(rows), audit.number, dtype=np.int64),
        node=rows,
    )


def _times(nodes: Nodes, rows: Ints, base: int) -> Ints:
    """The number of each step in the rollout. Resets are calls as well, so steps are counted, and those that have no
    target too: where observations look alike a row is missing, and the ones after it are as late as they were. All
    lanes end together; of the first steps some may not have been seen."""
    time, length = np.zeros(len(rows), dtype=np.int64), 0
    acted = nodes.acted & (nodes.update == base)
    for each in np.unique(nodes.stream[rows]):
        mine = nodes.stream[rows] == each
        calls = np.unique(nodes.call[acted & (nodes.stream == each)])
        time[mine] = np.searchsorted(calls, nodes.call[rows[mine]]) - len(calls)
        length = max(length, len(calls))
    return time + length


def _critic(audit: Audit, base: int) -> list[Event]:
    """The terms of the first regression that learns from the same stretch of acting."""
    found = [each for (_, start), each in _stretches(audit, "regression", "prediction").items() if start == base]
    return found[0] if found else []


__all__ = [
    "Array",
    "Flags",
    "Group",
    "Ints",
    "Site",
    "Steps",
    "after",
    "base_update",
    "channels",
    "column_of",
    "groups",
    "is_output",
    "joined",
    "places_of",
    "same",
    "site_of",
    "sited",
    "told_apart",
    "where_of",
]
