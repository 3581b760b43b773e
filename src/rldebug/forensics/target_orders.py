"""Numbers of a rollout that were put down in another order than its observations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rldebug.forensics.target_rows import Ints, Steps

_FULL = 0.7  # share of the rows of a rollout that are known, for another order to be tried


def orders(steps: Steps) -> Iterator[tuple[str, Steps]]:
    """The table as it would be if targets had been put down in another order than observations. Full rollouts only."""
    for name, places in reordered(steps):
        yield name, steps.moved(places)


def reordered(steps: Steps) -> Iterator[tuple[str, Ints]]:
    """Names of other orders, and for each row the one whose number it would have then."""
    for name in ("transposed", "untransposed", "reversed"):
        places = np.arange(len(steps))
        whole = True
        for batch in np.unique(steps.batch):
            rows = np.flatnonzero(steps.batch == batch)
            found = _reordered(steps, rows, name)
            if found is None:
                whole = False
                break
            places[rows] = found
        if whole:
            yield name.removeprefix("un"), places


def _reordered(steps: Steps, rows: Ints, name: str) -> Ints | None:
    lanes, lane = np.unique(steps.lane[rows], return_inverse=True)
    times = int(steps.time[rows].max()) + 1
    if len(rows) < _FULL * len(lanes) * times or (name != "reversed" and (len(lanes) < 2 or times < 2)):
        return None
    grid = np.full((times, len(lanes)), -1, dtype=np.int64)  # observations that look alike are missing
    grid[steps.time[rows], lane] = rows
    if name == "reversed":
        taken = grid[::-1]
    elif name == "transposed":  # observations by time, targets by lane
        taken = grid.reshape(-1)[np.arange(grid.size)].reshape(len(lanes), times).T
    else:
        taken = grid.T.reshape(-1).reshape(times, len(lanes))
    return np.asarray(taken[steps.time[rows], lane])
