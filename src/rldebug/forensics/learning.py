"""Learning: whether returns have risen over a run, how sure that is, and what would have shown by now.

No distribution is assumed: a permutation test on means, with a generator of its own. Means and errors are Welch's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.forensics.worlds import training_streams

_DRAWS = 2000
_KEPT = 400  # returns of each sample that are shuffled
_SURE = 1.96 + 1.645  # errors that a true difference must measure to be found at 5 %, nineteen times out of twenty


@dataclass(frozen=True, eq=False)
class Curve:
    """Episodes of the environments that are learned from, in the order in which they ended."""

    returns: NDArray[np.float64]
    at: NDArray[np.int64]  # optimizer steps before the end

    def __len__(self) -> int:
        return len(self.returns)

    def untrained(self, least: int) -> int:
        """How many episodes ended before the first update; where those are too few, within the first twentieth."""
        before = int((self.at == 0).sum())
        if before >= least or not len(self):
            return before
        return int((self.at <= 0.05 * self.at[-1]).sum())


@dataclass(frozen=True)
class Change:
    """The mean of some returns against that of others."""

    before: float
    after: float
    spread: float  # standard deviation of the first ones
    error: float  # standard error of the difference
    chance: float  # how often shuffled returns differ as much, either way
    counts: tuple[int, int]

    @property
    def gain(self) -> float:
        return self.after - self.before

    @property
    def visible(self) -> float:
        """The smallest gain that would have shown by now with 95 %."""
        return _SURE * self.error


@lru_cache(maxsize=8)
def curve_of(script: Script) -> Curve:
    found: list[tuple[int, float]] = []
    for stream in training_streams(script):
        found += zip(stream.get("at") or (), stream.get("returns") or (), strict=False)
    kept = [(int(at), float(each)) for at, each in found if isinstance(each, (int, float)) and math.isfinite(each)]
    kept.sort(key=lambda each: each[0])  # stable: episodes of one environment stay in order
    return Curve(np.array([each for _, each in kept]), np.array([at for at, _ in kept], dtype=np.int64))


def change(before: NDArray[np.float64], after: NDArray[np.float64]) -> Change:
    """Two samples of at least two returns each."""
    error = math.sqrt(float(before.var(ddof=1)) / len(before) + float(after.var(ddof=1)) / len(after))
    return Change(
        before=float(before.mean()),
        after=float(after.mean()),
        spread=float(before.std(ddof=1)),
        error=error,
        chance=chance(before, after),
        counts=(len(before), len(after)),
    )


def chance(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """Share of shuffles in which the means differ at least as much. Never 0: there is always the order that was."""
    before, after = _thinned(before), _thinned(after)
    both = np.concatenate([before, after])
    seen = abs(float(after.mean() - before.mean()))
    generator = np.random.Generator(np.random.PCG64(20))
    order = generator.random((_DRAWS, len(both))).argsort(axis=1)
    drawn = both[order[:, : len(before)]].sum(axis=1)
    differences = np.abs((both.sum() - drawn) / len(after) - drawn / len(before))
    return float((1 + (differences >= seen - 1e-12 * max(1.0, seen)).sum()) / (1 + _DRAWS))


def _thinned(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    return returns[:: -(-len(returns) // _KEPT)]
