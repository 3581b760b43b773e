"""Places of steps among the nodes of an audit, and which of the program's terms a term is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Audit, Event, Nodes
from rldebug.forensics.target_calls import traced

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Site = tuple[Any, ...]  # where in the program a term is made, and of which networks


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
def begins(nodes: Nodes) -> Flags:
    """Observations that an episode begins with. One that resets itself within a step may not say so: what was acted on
    next, after an end, is where the next episode begins."""
    found: Flags = nodes.first.copy()
    led = places_of(nodes, nodes.succ[(nodes.terminated | nodes.truncated) & ~nodes.phantom])
    led = led[led >= 0]
    found[led[nodes.acted[led] & ~nodes.phantom[led]]] = True  # a phantom's step only resets: it is still the end
    return found


@lru_cache(maxsize=64)
def same(nodes: Nodes) -> Ints:
    """For each node the first place of one with the same observation; rows of networks are found at the newest."""
    own = np.arange(len(nodes))
    if not len(nodes):
        return own
    if nodes.obs_stats.shape[1] > 4 and (nodes.obs_stats[:, 4] > 0).all():  # fingerprints, also of those forgotten
        _, first, which = np.unique(nodes.obs_stats[:, 4], return_index=True, return_inverse=True)
        return np.asarray(first[np.ravel(which)])
    known = np.isfinite(nodes.obs_stats).all(axis=1)
    look = np.concatenate([nodes.obs_stats, np.nan_to_num(nodes.obs, nan=-7.0)], axis=1)
    _, first, which = np.unique(look, axis=0, return_index=True, return_inverse=True)
    return np.where(known, first[np.ravel(which)], own)


def given_up(nodes: Nodes, rows: Ints, onward: Ints) -> Flags:
    """Steps after which the program reset an environment that had not ended: a time limit of its own."""
    newest: dict[tuple[int, int], int] = {}
    for stream, lane, id in zip(nodes.stream.tolist(), nodes.lane.tolist(), nodes.id.tolist(), strict=True):
        newest[stream, lane] = max(newest.get((stream, lane), id), id)
    safe = np.where(onward >= 0, onward, 0)
    left = (onward >= 0) & ~nodes.acted[safe] & (nodes.succ[safe] < 0)
    later = [newest[int(nodes.stream[each]), int(nodes.lane[each])] > int(nodes.id[each]) for each in safe]
    return np.asarray(left & np.array(later, dtype=bool) & ~nodes.terminated[rows])


_SAME = 0.8  # share of the rows of a loss that come from one stretch of acting: it is on-policy


def base_update(audit: Audit, term: Event) -> int | None:
    """Optimizer steps before the acting that the term learns from, where nearly all of it is one stretch of acting.

    Rows are found at the newest observation that looks so. That may be the one the program acts on next, or one of a
    later step of the stretch: what counts is that a step of the stretch looks so.
    """
    known = term.get("stretch")
    if known is not None:
        return int(known)
    nodes = audit.nodes
    places = places_of(nodes, term.arrays["rows"])
    if not len(nodes) or not len(places):
        return None
    look = same(nodes)
    rows = look[places[places >= 0]]
    for update in np.unique(nodes.update[nodes.acted & (nodes.update <= term.update)])[::-1].tolist():
        acted = np.zeros(len(nodes), dtype=bool)
        acted[look[nodes.acted & (nodes.update == update)]] = True
        if acted[rows].sum() >= _SAME * (len(places) - int(term.get("filler") or 0)):
            return int(update)
    return None


def site_of(term: Event, number: int) -> Site:
    """Which term of the program it is. Lines are not known in every audit: by its making, and its number in a loss."""
    return (term["kind"], term.get("op"), tuple(sorted(term.get("reached") or ())), number)


def sited(audit: Audit, kind: str) -> Iterator[tuple[Site, Event]]:
    for loss, terms in audit.losses:
        if kind == "policy" and loss.get("how") == "grad":
            continue  # a gradient that is asked for may be climbed as well as descended
        for number, term in enumerate(each for each in terms if each["kind"] == kind):
            yield site_of(term, number), traced(audit, term, terms)


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
