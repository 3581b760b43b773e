"""How fast a run learns, and where it levels out: two questions, with different causes, that one curve blurs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Run, Series

RETURNS = ("episode/return_mean", "reward/per_trajectory", "episode/reward_per_step", "reward/mean")
"""What stands for the return, best first; a loop may hand over only some of them."""

_HALF_LIFE = 4.0
_FEWEST = 12  # readings; under these no curve has a shape
_SURE = 4.0  # standard errors
_END = 0.2  # share of the run that counts as its end


@dataclass(frozen=True)
class Learning:
    """The way from the first returns to the last. Steps are None where the run never got that far."""

    name: str
    start: float
    plateau: float
    noise: float  # standard deviation of the later readings around their moving average
    half: int | None  # env steps until half of the way was made
    most: int | None  # env steps until 90 % of it was made
    settled: bool  # the last part of the run is level, within the noise
    env_steps: int
    moved: bool  # the end differs from the start by more than the readings scatter


def learning(run: Run) -> Learning | None:
    """From the return's moving average; None where there are too few readings to say."""
    for name in RETURNS:
        series = run[name].finite
        if len(series) >= _FEWEST:
            return _measure(series)
    return None


def _measure(series: Series) -> Learning:
    smooth = series.ema(_HALF_LIFE)
    late = len(series) // 2
    noise = float(np.std(series.value[late:] - smooth.value[late:]))  # early on, the average trails behind the rise
    first = max(len(series) // 20, 3)
    start = float(np.mean(series.value[:first]))
    end = smooth.tail(_END)
    plateau = series.tail(_END).median()
    half, rest = np.array_split(end.value, 2)
    slope = abs(float(np.mean(rest)) - float(np.mean(half))) if len(rest) else 0.0
    moved = abs(plateau - start) > 2.0 * noise and plateau != start
    if not moved and _drifted(series.value):
        # The few readings at the start happened to be high, or low.
        start, moved = float(np.mean(series.value[: len(series) // 4])), True
    way = plateau - start
    settled = slope <= max(0.05 * abs(way), 0.5 * noise)

    def reached(share: float) -> int | None:
        if way == 0:
            return None
        hit = smooth.at((smooth.value - start) / way >= share)
        return None if hit is None else int(smooth.env_step[hit])

    return Learning(
        series.name, start, plateau, noise, reached(0.5), reached(0.9), bool(settled), int(series.env_step[-1]),
        bool(moved),
    )  # fmt: skip


def _drifted(values: NDArray[np.float64]) -> bool:
    """Whether the last quarter differs from the first by more than chance makes them."""
    first, last = values[: len(values) // 4], values[-(len(values) // 4) :]
    error = float(np.sqrt(first.var(ddof=1) / len(first) + last.var(ddof=1) / len(last)))
    return abs(float(last.mean() - first.mean())) > _SURE * error > 0.0
