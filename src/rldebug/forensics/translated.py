"""Actions that the program calls by other numbers than the environment does: a table, or an offset, in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from rldebug.evidence.script import Audit, Script
from rldebug.forensics.node_places import Array, Ints, places_of

_ALL = 0.98  # share of the rows whose action is translated alike
_PREFERRED = 0.75  # share of the rows in which the network itself would rather take the executed one


def translation(chosen: Array, executed: Array) -> Mapping[float, float] | None:
    """Which number of the environment stands for which of the program; None where there is no such table."""
    pairs = Counter(zip(chosen.tolist(), executed.tolist(), strict=True))
    table: dict[float, tuple[float, int]] = {}
    for (own, given), count in pairs.items():
        if count > table.get(own, (0.0, 0))[1]:
            table[own] = (given, count)
    alike = sum(count for _, count in table.values())
    distinct = len({given for given, _ in table.values()}) == len(table)
    if len(table) < 2 or not distinct or alike < _ALL * len(chosen):
        return None
    return {own: given for own, (given, _) in table.items()}


def meant(script: Script, table: Mapping[float, float]) -> bool:
    """Whether it is a table that the program acts by. It is not where the network prefers what was executed, by its
    own numbers: then it was stored under a wrong one."""
    for_executed = against = 0
    for audit in script.audits:
        for places, outputs in _acting(audit):
            given = audit.nodes.action[places, 0]
            own = {number: name for name, number in table.items()}
            told = [
                (row, int(own[each]), int(each))
                for row, each in enumerate(given.tolist())
                if each in own and own[each] != each and 0 <= max(own[each], each) < outputs.shape[1]
            ]
            for row, name, number in told:
                for_executed += bool(outputs[row, number] > outputs[row, name])
                against += bool(outputs[row, number] < outputs[row, name])
    total = for_executed + against
    return total < 64 or for_executed < _PREFERRED * total


def _acting(audit: Audit) -> Iterator[tuple[Ints, Array]]:
    """Steps that were taken, and what the network said of the observations before."""
    for event in audit.acting:
        places = places_of(audit.nodes, event.arrays["rows"])
        for name, output in event.arrays.items():
            if name.startswith("output") and output.ndim == 2 and output.shape[1] > 1 and len(output) == len(places):
                keep = (places >= 0) & np.where(places >= 0, audit.nodes.acted[places], False)
                yield places[keep], np.asarray(output, dtype=np.float64)[keep]
                break
