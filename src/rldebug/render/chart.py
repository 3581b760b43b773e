"""What the page draws, as plain numbers: curves thinned, histograms on one grid, sparklines."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Series

_POINTS = 800  # of a curve; more cannot be seen
_BINS = 40  # of a heat map
_COLUMNS = 120
_SPARKS = 60


def curve(series: Series) -> dict[str, Any]:
    """The readings, and their moving average, over updates and over env steps."""
    smooth = series.ema(half_life=min(max(len(series) / 30, 1.5), 30.0)).value
    keep = _kept(series.value)
    return {
        "x": [int(each) for each in series.update[keep]],
        "steps": [int(each) for each in series.env_step[keep]],
        "raw": [number(each) for each in series.value[keep]],
        "ema": [number(each) for each in smooth[keep]],
    }


def thin(x: NDArray[Any], y: NDArray[Any], like: NDArray[Any] | None = None) -> tuple[list[Any], list[Any]]:
    """At most `_POINTS` points: of each bucket its lowest and highest, so that no spike is lost."""
    keep = _kept(y if like is None else like)
    return [int(each) for each in x[keep]], [number(each) for each in y[keep]]


def _kept(guide: NDArray[Any]) -> NDArray[np.intp]:
    if len(guide) <= _POINTS:
        return np.arange(len(guide))
    filled = np.nan_to_num(guide, posinf=np.inf, neginf=-np.inf)
    edges = np.linspace(0, len(guide), _POINTS // 2 + 1).astype(np.intp)
    parts = [filled[a:b] for a, b in itertools.pairwise(edges)]
    both = [(a + part.argmin(), a + part.argmax()) for a, part in zip(edges[:-1], parts, strict=True)]
    return np.unique(np.array(both, dtype=np.intp))


def heat(updates: list[int], histograms: list[Sequence[float]]) -> dict[str, Any] | None:
    """Histograms with edges of their own, brought onto one grid by their cumulative shares."""
    pairs = zip(updates, histograms, strict=True)
    kept = [(at, each) for at, each in pairs if len(each) > 3 and np.isfinite(each).all()]
    if len(kept) < 2:
        return None
    kept = kept[:: max(len(kept) // _COLUMNS, 1)]
    low = float(np.quantile([each[0] for _, each in kept], 0.05))
    high = float(np.quantile([each[1] for _, each in kept], 0.95))
    if not low < high:
        low, high = low - 0.5, high + 0.5
    grid = np.linspace(low, high, _BINS + 1)
    columns = []
    for _, (left, right, *counts) in kept:
        edges = np.linspace(left, right if right > left else left + 1e-12, len(counts) + 1)
        shares = np.concatenate([[0.0], np.cumsum(counts)]) / max(sum(counts), 1.0)
        columns.append(np.diff(np.interp(grid, edges, shares)))
    z = np.sqrt(np.array(columns).T)  # of shares: rare values stay visible beside common ones
    return {
        "kind": "heat",
        "x": [at for at, _ in kept],
        "y": [number(each) for each in (grid[:-1] + grid[1:]) / 2],
        "z": [[number(each) for each in row] for row in z],
    }


def spark(values: Sequence[float]) -> str:
    """A line the height of a table row; empty where there is nothing to see."""
    kept = [each for each in values if math.isfinite(each)]
    if len(kept) < 2:
        return ""
    kept = kept[:: max(len(kept) // _SPARKS, 1)]
    low, high = min(0.0, *kept), max(0.0, *kept)
    across, up = 100 / (len(kept) - 1), 16 / ((high - low) or 1.0)
    points = " ".join(f"{across * i:.1f},{18 - up * (each - low):.1f}" for i, each in enumerate(kept))
    return f'<svg viewBox="0 0 100 20" preserveAspectRatio="none"><polyline points="{points}"/></svg>'


def number(value: float) -> float | None:
    """As JSON has it: six digits, and nothing where it is not finite."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
