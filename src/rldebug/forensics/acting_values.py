"""Values of observations, with the weights that they were acted with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event
from rldebug.forensics.node_places import Array, Ints, column_of, places_of, same

Channel = tuple[str, str]  # a module, and which of its outputs

_SAME = 1e-3  # what a network says twice of the same thing may differ by


def values_of(audit: Audit, base: int, terms: Sequence[Event], rows: Ints) -> Mapping[int, float]:
    """Place of a node -> its value with the weights of the acting. The channel is known by what the loss predicts."""
    # Where the policy is stepped first, the critic still has the weights of the acting: its numbers tell.
    start = min((each.update for each in terms), default=base)
    predicted = _predicted(audit, start, terms)
    look = same(audit.nodes).tolist()  # rows of a loss are found at the newest that looks so, which may not be acted on
    wanted = {look[each]: number for each, number in predicted.items()}
    best: tuple[float, Mapping[int, float]] = (0.0, {})
    tables = channels(audit, base)
    for table in tables.values():
        looks = {look[each]: number for each, number in table.items()}
        both = [(looks[each], wanted[each]) for each in wanted if each in looks]
        own = [(table[each], number) for each, number in predicted.items() if each in table]
        if 2 * len(own) >= len(predicted):
            both = own  # a memory tells apart what looks the same
        near = [abs(said - number) <= 1e-4 * (1.0 + abs(number)) for said, number in both]
        alike = float(np.mean(near)) if near else 0.0
        spread = len({round(said, 6) for said, _ in both}) > 1
        covered = float(np.mean([look[int(each)] in looks for each in rows]))
        score = covered * alike if predicted else 0.0
        if alike >= 0.95 and spread and score > best[0]:
            best = (score, table)
    if best[1]:
        return {**_elsewhere(best[1], tables.values()), **predicted, **best[1]}
    return predicted if start == base else {}


def _elsewhere(best: Mapping[int, float], tables: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """What other channels say, that say the same wherever both were asked: a value head, called by itself on last
    observations, within a policy while acting."""
    found: dict[int, float] = {}
    for table in tables:
        both = [each for each in table if each in best]
        near = [abs(table[each] - best[each]) <= 1e-4 * (1.0 + abs(best[each])) for each in both]
        if len(both) >= 8 and np.mean(near) >= 0.95 and len({round(best[each], 6) for each in both}) > 4:
            found.update(table)
    return found


def by_look(audit: Audit, value: Mapping[int, float]) -> Array:
    """For each node its value, or that of one that looks the same; NaN where there is none. One more, of no node.

    A network with a memory says several things of what looks the same: then only what it said of the node counts.
    """
    alike = same(audit.nodes).tolist()
    known: dict[int, float] = {}
    several: set[int] = set()
    for place, number in value.items():
        if abs(known.setdefault(alike[place], number) - number) > _SAME * (1.0 + abs(number)):
            several.add(alike[place])
    own = [value.get(place, np.nan if look in several else known.get(look, np.nan)) for place, look in enumerate(alike)]
    return np.array([*own, np.nan])


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
    asked: dict[tuple[Channel, int], int] = {}  # order of the call
    for event in sorted(audit.calls, key=lambda each: not each.get("acting")):
        ids = event.arrays.get("rows")
        if ids is None or not len(ids):
            continue
        updates = event.arrays.get("updates")
        now = (
            updates == base
            if updates is not None and len(updates) == len(ids)
            else np.full(len(ids), event.update == base)
        )
        orders = event.arrays.get("orders", np.full(len(ids), event.order))
        places = places_of(audit.nodes, ids)
        now = now & (places >= 0)
        if not now.any():
            continue
        for name, numbers in _single(event, len(ids)):
            channel = (str(event["module"]), name)
            table = found.setdefault(channel, {})
            for place, each, order in zip(
                places[now].tolist(), numbers[now].tolist(), orders[now].tolist(), strict=True
            ):
                # What follows a step may be asked first for its value: the last call that acts is the one that acted.
                before = asked.get((channel, place))
                if before is None or (event.get("acting") and order > before):
                    table[place], asked[channel, place] = each, order
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
