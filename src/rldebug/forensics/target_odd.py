"""Bootstraps that nobody means: the smallest value, their mean, one number for a batch; rewards of another step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_next import Batch
from rldebug.forensics.target_rows import Flags

# How the name of a bootstrap begins, and what mistake it is.
ODD = {
    "own-": "own",
    "larger": "larger",
    "least of": "least",
    "index of": "index",
    "mean of the actions": "mean",
    "summed ": "summed",
    "batch ": "batch",
    "elsewhere ": "elsewhere",
}


def of_the_batch(batches: Sequence[Batch]) -> dict[str, Array]:
    """One number for all rows of a batch, by each network that was asked about the next observations."""
    modules = {name for each in batches for name in each.entries}
    found: dict[str, Array] = {}
    for module in sorted(modules):
        parts = []
        for each in batches:
            table = each.entries.get(module)
            number = np.nan if table is None or not np.isfinite(table).any() else float(np.nanmax(table))
            parts.append(np.full(len(each.target), number))
        column = np.concatenate(parts)
        if np.isfinite(column).mean() > 0.6:
            found[f"batch maximum of {module}"] = column
    return found


def displaced(batches: Sequence[Batch], reward: Array, inner: Flags, tol: float) -> Iterator[tuple[str, Array, Flags]]:
    """Rewards of the steps beside, and the rows that have them; where they often differ from the row's own."""
    for name in ("reward-late", "reward-early"):
        column = np.concatenate([each.near.get(name, np.full(len(each.target), np.nan)) for each in batches])
        used = inner & np.isfinite(column)
        if used.sum() >= 24 and (np.abs(column - reward)[used] > 50 * tol).mean() > 0.1:
            yield name, column, used
