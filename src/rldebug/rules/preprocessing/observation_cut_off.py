"""Most of the observation is cut off at its bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.batches import acting
from rldebug.forensics.worlds import name_of, training_streams
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ObservationCutOff(Rule):
    """Most of the observation is cut off at its bounds.

    ## What it checks
    What the environment hands out, and what the network is given to act on, element by element. Half of the elements or
    more have one of two values in nearly every row, their smallest and their largest, each of them often; and the few
    rows between are all different. So a number that varies goes through a clip that is far too narrow. An element that
    knows two values only, such as a flag, has no rows between.

    ## Why it matters
    Of where something is, only its sign is left. The agent cannot tell near from far.

    ## Likely causes
    1. The bounds of a clip are in other units than the observation. Confirm: print it before and after.
    2. Observations are multiplied where they should be divided. Confirm: the same.
    3. A normaliser's `clip_obs` is tiny. Confirm: print it.

    ## What to try first
    Print the share of the elements that equal their smallest or largest value.

    ## When it is fine
    Sensors that only say on which side something is.

    ## References
    Stable-Baselines3, *Reinforcement Learning Tips and Tricks*: normalise the observation space.
    """

    code: ClassVar[str] = "PRE307"
    name: ClassVar[str] = "observation-cut-off"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    rows: int = 150  # that were kept
    at_bounds: float = 0.75  # share of rows that have one of the two values
    each_bound: float = 0.1  # share that each of them has, at least
    between: int = 6  # different values between, at least
    elements: float = 0.5  # of those that vary

    def check(self, evidence: Script) -> Iterator[Finding]:
        lanes = training_streams(evidence)
        chosen = [int(each["index"]) for each in lanes]
        shown = _joined(list(_new(evidence, chosen)))
        seen = self._cut(shown)
        if seen:
            yield self._finding(f"what {name_of(lanes[0])} shows is cut off at its bounds", seen, Where())
            return
        inputs: dict[str, list[Array]] = {}
        for call in acting(evidence):
            if call.input is not None and call.known.all():
                inputs.setdefault(call.module, []).append(call.input)
        for module, given in inputs.items():
            seen = self._cut(_joined(given))
            if seen:
                where = next(each.event.where for each in acting(evidence) if each.module == module)
                yield self._finding(f"what {module} is given to act on is cut off at its bounds", seen, where)
                return
        if len(shown) < self.rows:
            raise NotEnough(f"{len(shown)} observations were kept, needs {self.rows}")

    def _finding(self, message: str, seen: str, where: Where) -> Finding:
        return self.finding(
            message,
            where=where,
            seen=seen,
            expected="bounds that observations seldom reach",
            help="print the observation before and after it is clipped; divide it by its range, or widen the clip",
            confidence=0.8,
        )

    def _cut(self, table: Array) -> str:
        table = table[np.isfinite(table).all(axis=1)] if table.size else table
        if len(table) < self.rows:
            return ""
        varying, cut, shares = 0, [], []
        for place, column in enumerate(table.T):
            low, high = float(column.min()), float(column.max())
            if low == high:
                continue
            varying += 1
            lowest, highest = float((column == low).mean()), float((column == high).mean())
            between = len(np.unique(column[(column > low) & (column < high)]))
            if lowest + highest >= self.at_bounds and min(lowest, highest) >= self.each_bound:
                free = (1 - lowest - highest) * len(column)
                if between >= self.between and between >= 0.8 * free:
                    cut.append(place)
                    shares.append(lowest + highest)
        if not cut or len(cut) < self.elements * varying:
            return ""
        return (
            f"element {', '.join(map(str, cut[:8]))} is at its smallest or largest value in "
            f"{float(np.mean(shares)):.0%} of {len(table)} rows, and different in all others"
        )


def _new(script: Script, chosen: list[int]) -> Iterator[NDArray[Any]]:
    """Observations of these environments, by audit. One that is remembered from one audit to the next comes once."""
    last = -1
    for audit in script.audits:
        nodes = audit.nodes
        keep = np.isin(nodes.stream, chosen) & (nodes.id > last)
        if keep.any():
            yield nodes.obs[keep]
            last = int(nodes.id[keep].max())


def _joined(parts: Sequence[NDArray[Any]]) -> Array:
    widths = {each.shape[1] for each in parts if each.ndim == 2 and len(each)}
    if len(widths) != 1 or not 0 < next(iter(widths)) <= 64:
        return np.zeros((0, 1))
    return np.concatenate([np.asarray(each, dtype=np.float64) for each in parts if each.ndim == 2 and len(each)])
