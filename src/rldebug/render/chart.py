"""What the page draws, as plain numbers: curves thinned, histograms on one grid, sparklines."""

from __future__ import annotations

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


def curve(series: Series, x: NDArray[np.int64] | None = None) -> dict[str, Any]:
    """The readings, and their moving average, over updates or over `x`."""
    smooth = series.ema(half_life=min(max(len(series) / 30, 1.5), 30.0))
    at, raw = thin(series.update if x is None else x, series.value)
    _, ema = thin(series.update if x is None else x, smooth.value, like=series.value)
    return {"x": at, "raw": raw, "ema": ema}


def thin(x: NDArray[Any], y: NDArray[Any], like: NDArray[Any] | None = None) -> tuple[list[Any], list[Any]]:
    """At most `_POINTS` points: of each bucket its lowest and highest, so that no spike is lost."""
    guide = y if like is None else like
    if len(y) > _POINTS:
        parts = np.array_split(np.arange(len(y)), _POINTS // 2)
        filled = [np.nan_to_num(guide[part], posinf=np.inf, neginf=-np.inf) for part in parts]
        keep = sorted({int(part[i]) for part, f in zip(parts, filled, strict=True) for i in (f.argmin(), f.argmax())})
        x, y = x[keep], y[keep]
    return [int(each) for each in x], [number(each) for each in y]


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
