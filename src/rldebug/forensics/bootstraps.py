"""Bootstraps: of each regression of a chosen action its rows, and those the other networks were called on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Where
from rldebug.forensics.batches import Call, ambiguous, calls_of, owned

_ROWS = 8  # of a batch; fewer say little about how rows relate


@dataclass(frozen=True, eq=False)
class Pair:
    """A batch of predictions Q(s, a), and a call of the same update that may be the bootstrap from the next states."""

    audit: Audit
    term: Event
    predicted: NDArray[np.int64]  # places of s in the nodes; UNKNOWN among them
    call: Call
    called: NDArray[np.int64]  # places of what may be s'
    sure: NDArray[np.bool_]  # rows where both are known, and like no other

    @property
    def size(self) -> int:
        return int(self.sure.sum())

    @property
    def same(self) -> float:
        return float((self.predicted == self.called)[self.sure].mean())

    @property
    def later(self) -> float:
        """Share of rows that follow: reached by the step itself, or by the most common number of steps."""
        nodes, s, t = self.audit.nodes, self.predicted[self.sure], self.called[self.sure]
        follows = nodes.nxt[s] == nodes.id[t]
        apart = nodes.call[t] - nodes.call[s]
        apart[(nodes.stream[s] != nodes.stream[t]) | (nodes.lane[s] != nodes.lane[t]) | (apart < 1) | (apart > 32)] = 0
        counts = np.bincount(apart, minlength=2)[1:]
        return float((follows | (apart == counts.argmax() + 1)).mean())


@lru_cache(maxsize=8)
def predictions(script: Script) -> tuple[tuple[Audit, Event], ...]:
    """Regressions of a chosen action: by the index of a gather, or by an action that is a part of the input.

    Also of a distribution over returns, which is learned by a cross-entropy.
    """
    return tuple(
        (audit, term)
        for audit, term in script.events("term")
        if (_chosen(term) if term["kind"] == "regression" else _distribution(term))
        and len(term.arrays.get("rows", ())) >= _ROWS
    )


def _chosen(term: Event) -> bool:
    return "index" in term.arrays or term.get("match") == "slice"


def _distribution(term: Event) -> bool:
    return (
        term["kind"] == "classification"
        and term.get("op") == "soft-cross-entropy"
        and "index" in term.arrays
        and len(np.shape(term.arrays.get("target", ()))) == 2
    )


@lru_cache(maxsize=8)
def pairs_of(script: Script) -> tuple[Pair, ...]:
    """Every prediction with every other call of its update with as many rows, be it to learn or to make a target."""
    by_update: dict[tuple[int, int], list[Call]] = {}
    for call in calls_of(script):
        if not call.event.get("acting"):
            by_update.setdefault((call.audit.number, call.update), []).append(call)
    found = []
    for audit, term in predictions(script):
        rows = term.arrays["rows"]
        places = audit.nodes.index(rows)
        for call in by_update.get((audit.number, term.update), ()):
            if call.order > term.order or len(call.rows) != len(rows) or call.event["match"] == "tag":
                continue
            called = call.places
            sure = ~ambiguous(audit.nodes, places) & ~ambiguous(audit.nodes, called)
            if sure.sum() >= max(_ROWS, len(rows) // 2):
                found.append(Pair(audit, term, places, call, called, sure))
    return tuple(found)


def without_gradient(script: Script, call: Call) -> bool:
    """Nobody learns by this call: gradients are off, or no optimizer owns the network."""
    return not call.event["grad"] or not owned(script, call.module)


def by_prediction(script: Script) -> Iterator[tuple[Event, list[Pair]]]:
    """The pairs of each prediction together."""
    grouped: dict[int, tuple[Event, list[Pair]]] = {}
    for pair in pairs_of(script):
        grouped.setdefault(id(pair.term), (pair.term, []))[1].append(pair)
    yield from grouped.values()


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a Q-regression, and the rows of the call that its target was made of, by their ids."""

    ids: NDArray[np.int64]
    taken: NDArray[np.float64]
    called: NDArray[np.int64]
    audit: int
    where: Where


def pairs_by_rows(script: Script) -> Iterator[Rows]:
    """Each prediction with the last call without a gradient on other rows, whether they are like others or not."""
    by_update: dict[tuple[int, int], list[Call]] = {}
    for call in calls_of(script):
        if not call.event.get("acting") and call.event["match"] != "tag" and without_gradient(script, call):
            by_update.setdefault((call.audit.number, call.update), []).append(call)
    for audit, term in predictions(script):
        ids, index = term.arrays["rows"], term.arrays.get("index")
        if index is None or np.size(index) != len(ids):
            continue
        near = [each for each in by_update.get((audit.number, term.update), ())
                if each.order < term.order and len(each.rows) == len(ids) and (each.rows != ids).any()]  # fmt: skip
        if near:
            yield Rows(ids, np.ravel(index).astype(np.float64), near[-1].rows, audit.number, term.where)
