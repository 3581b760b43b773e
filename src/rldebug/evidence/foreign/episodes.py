"""Single episodes, gathered by the line of the log that follows them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.foreign.known import Known

_WINDOWS = 200  # where nothing else was logged
_FEWEST = 12  # lines of other things, from which on episodes are gathered by those


def with_ends(lines: NDArray[np.int64], single: Mapping[str, Known]) -> NDArray[np.int64]:
    """These lines, and those that episodes need besides: evenly over the run, where there is hardly another, and one
    for the episodes that nothing follows."""
    if not single:
        return lines
    ends = np.concatenate([each.column.step for each in single.values()])
    if len(lines) < _FEWEST:
        windows = min(_WINDOWS, len(np.unique(ends)))
        cuts = np.linspace(ends.min(), ends.max(), windows + 1)[1:]
        lines = np.union1d(lines, np.ceil(cuts).astype(np.int64))
    return np.union1d(lines, ends.max()) if ends.max() > lines[-1] else lines


def gathered(name: str, lines: NDArray[np.int64], known: Known) -> dict[int, dict[str, float]]:
    """By line: how many they were, their mean, spread and extremes. `name` is that of the mean."""
    family = name.removesuffix("_mean")
    finite = np.isfinite(known.column.value)
    places = np.searchsorted(lines, known.column.step[finite])
    at, starts = np.unique(places, return_index=True)
    parts = np.split(known.column.value[finite], starts[1:])
    found = {}
    for place, own in zip(at.tolist(), parts, strict=True):
        found[place] = {
            f"{family}_mean": float(own.mean()),
            f"{family}_std": float(own.std()),
            f"{family}_min": float(own.min()),
            f"{family}_max": float(own.max()),
        } | ({"episode/count": float(len(own))} if name == "episode/return_mean" else {})
    return found
