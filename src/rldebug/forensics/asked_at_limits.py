"""Where a critic was asked about an observation that nobody acted on, when an episode was cut off: about which?

Programs add γ V(last observation) to the reward there. Behind statistics that move, what the critic is given is like
nothing that was acted on. But the number that it said is in the target, so the call is known; and what it was given is
nearer to the one observation or to the other, as the network sees them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.node_places import Array, Ints, begins, places_of
from rldebug.forensics.target_ends import WIDER, Ending, kinds_of, ways_of
from rldebug.forensics.target_models import Formula
from rldebug.forensics.target_rows import Steps

_ROWS = 4
_SHARE = 0.9
_FITTED = 16  # rows that the map from observations to inputs is fitted to
_NEARER = 0.25  # of the way to the other one
_CLEARLY = 0.1  # of the distance to the next number that was said


def asked_at_limits(script: Script, steps: Steps, formula: Formula) -> Ending | None:
    """How steps that were cut off are treated, told by calls whose rows are no known observation."""
    gamma = formula.gamma or 0.0
    limited = kinds_of(steps)["truncated"]
    if limited.sum() < _ROWS or gamma < 0.1:
        return None
    beyond = (steps.target - ways_of(steps, formula)["zero"]) / gamma
    near = WIDER * formula.tol / gamma
    told = final = 0
    audits: set[int] = set()
    for audit in script.audits:
        mine = np.flatnonzero(limited & (steps.audit == audit.number) & np.isfinite(beyond))
        for place, id, given in _asked(audit, steps.node[mine], beyond[mine], near):
            which = _which(audit, place, id, given)
            if which is not None:
                told += 1
                final += which
                audits.add(audit.number)
    total = int(limited.sum())
    if told < max(_ROWS, 0.5 * total) or len(audits) < 2 or max(final, told - final) < _SHARE * told:
        return None
    right = 2 * final > told
    hit = final if right else told - final
    return Ending("truncated", "final" if right else "value", right, told, hit, len(audits), total / len(steps))


def _asked(audit: Audit, places: Ints, numbers: Array, near: float) -> Iterator[tuple[int, int, Array]]:
    """Steps whose number was said about one row alone: its id, and what the network was given."""
    said, ids, inputs = _answers(audit)
    for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
        away = np.abs(said - number)
        hits = np.flatnonzero(away <= near)
        if not len(hits):
            continue
        best = int(hits[away[hits].argmin()])
        others = [float(away[each]) for each in hits.tolist() if inputs[each].tobytes() != inputs[best].tobytes()]
        if away[best] <= _CLEARLY * min(others, default=near):
            yield int(place), ids[best], inputs[best]


def _answers(audit: Audit) -> tuple[Array, list[int], list[Array]]:
    """What networks said without a gradient in outputs of one number: for each row that, its id and its input."""
    said: list[float] = []
    ids: list[int] = []
    inputs: list[Array] = []
    for event in audit.calls:
        given, rows = event.arrays.get("input"), event.arrays.get("rows")
        if event["grad"] or given is None or rows is None or given.ndim != 2 or len(given) != len(rows):
            continue
        for name in ("output0", "output1"):
            output = event.arrays.get(name)
            if output is None or output.dtype.kind != "f" or len(output) != len(rows) or output[:1].size != 1:
                continue
            said += output.ravel().astype(np.float64).tolist()
            ids += rows.tolist()
            inputs += list(given.astype(np.float64))
    return np.array(said), ids, inputs


def _which(audit: Audit, place: int, id: int, given: Array) -> bool | None:
    """True: where the step truly led; False: the observation of the reset; None: not to be told."""
    nodes = audit.nodes
    if id >= 0:
        follows = int(nodes.succ[place])
        began = places_of(nodes, np.array([follows]))[0]
        if id == follows and began >= 0 and begins(nodes)[began]:
            return False
        return True if id == int(nodes.nxt[place]) else None
    led, reset = (places_of(nodes, each[[place]])[0] for each in (nodes.nxt, nodes.succ))
    mapped = _mapped(audit, len(given))
    if min(led, reset) < 0 or led == reset or mapped is None:
        return None
    slope, shift, spread = mapped
    away = [float((np.abs(nodes.obs[each] * slope + shift - given) / spread).max()) for each in (led, reset)]
    if not np.isfinite(away).all() or min(away) > _NEARER * max(away):
        return None
    return away[0] < away[1]


_MAPS: dict[tuple[int, int], tuple[Audit, tuple[Array, Array, Array] | None]] = {}


def _mapped(audit: Audit, width: int) -> tuple[Array, Array, Array] | None:
    """Slope and shift from each element of an observation to that of the input, as it was acted on; and its spread."""
    kept = _MAPS.get((id(audit), width))
    if kept is not None and kept[0] is audit:
        return kept[1]
    if len(_MAPS) > 64:
        _MAPS.clear()
    made = _fitted(audit, width)
    _MAPS[id(audit), width] = (audit, made)
    return made


def _fitted(audit: Audit, width: int) -> tuple[Array, Array, Array] | None:
    pairs = [each for event in audit.acting for each in _pairs(audit, event, width)]
    if not pairs or sum(len(each[0]) for each in pairs) < _FITTED:
        return None
    seen, given = (np.concatenate([each[side] for each in pairs]) for side in (0, 1))
    middle, centre, spread = seen.mean(axis=0), given.mean(axis=0), given.std(axis=0)
    if (seen.std(axis=0) < 1e-9).any() or (spread < 1e-9).any():
        return None
    slope = ((seen - middle) * (given - centre)).mean(axis=0) / seen.var(axis=0)
    return slope, centre - slope * middle, spread


def _pairs(audit: Audit, event: Event, width: int) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    given, nodes = event.arrays.get("input"), audit.nodes
    if given is None or given.ndim != 2 or given.shape[1] != width or nodes.obs.shape[1] != width:
        return
    places = places_of(nodes, event.arrays["rows"])
    if len(places) != len(given):
        return
    keep = (places >= 0) & np.isfinite(nodes.obs[places]).all(axis=1)
    yield nodes.obs[places[keep]].astype(np.float64), given[keep].astype(np.float64)
