"""Readings that belong together: taken on the same lines, pooled over many."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Reading, Run, Series


def together(run: Run, *names: str, fresh: bool = False) -> list[Series]:
    """These readings on the lines where all of them are finite, so that the n-th of each come from the same batch.

    `fresh`: only lines whose batch had not been learned from yet. Where neither staleness nor log-ratios were recorded,
    nobody can tell, and there are none.
    """
    lines = [
        each
        for each in run.readings
        if all(math.isfinite(each.numbers.get(name, math.nan)) for name in names) and (not fresh or _is_fresh(each))
    ]
    update = np.array([each.update for each in lines], dtype=np.int64)
    env_step = np.array([each.env_step for each in lines], dtype=np.int64)
    return [
        Series(name, update, env_step, np.array([each.numbers[name] for each in lines], dtype=np.float64))
        for name in names
    ]


def _is_fresh(line: Reading) -> bool:
    stale = line.numbers.get("batch/staleness_mean")
    if stale is not None:
        return stale == 0
    moved = line.numbers.get("policy/log_ratio_absmax")
    return moved is not None and moved < 1e-5


def pooled_correlation(corr: NDArray[np.float64], count: NDArray[np.float64]) -> tuple[float, float]:
    """One correlation from many, and the standard error of its Fisher z: each z = artanh r is weighted by n − 3."""
    weight = np.maximum(count - 3.0, 0.0)
    if weight.sum() <= 0:
        return math.nan, math.inf
    z = np.arctanh(np.clip(corr, -1.0 + 1e-9, 1.0 - 1e-9))
    return float(np.tanh((weight * z).sum() / weight.sum())), float(1.0 / math.sqrt(weight.sum()))
