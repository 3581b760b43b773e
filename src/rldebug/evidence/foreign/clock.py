"""What a log counts: env steps, learner steps, seconds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.foreign.known import SECONDS, find_column
from rldebug.evidence.foreign.log import Column, Log
from rldebug.evidence.tags import ENV_STEPS, UPDATES


def env_steps_at(log: Log, lines: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
    """Env steps taken by each line, and whether the log says so itself or by custom: else lines stand for them."""
    counted = _finite(find_column(log.columns, ENV_STEPS))
    if counted is None:
        return np.maximum(lines, 0), log.counts_env_steps
    steps = np.interp(lines, counted.step, np.maximum.accumulate(counted.value))
    return np.maximum(np.round(steps), 0).astype(np.int64), True


def updates_at(log: Log, lines: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
    """Learner steps taken by each line, and whether the log says so. Else lines are counted, from 1 on: what a log has
    of an update was computed after it."""
    counted = _finite(find_column(log.columns, UPDATES))
    if counted is None:
        return np.arange(1, len(lines) + 1, dtype=np.int64), False
    taken = np.concatenate([[0.0], np.maximum.accumulate(counted.value)])
    return np.maximum(taken[np.searchsorted(counted.step, lines, side="right")], 0).astype(np.int64), True


def seconds_at(log: Log, lines: NDArray[np.int64]) -> NDArray[np.float64]:
    """Since the log began; zeros where it does not say."""
    told = find_column(log.columns, SECONDS)
    pairs = [(told.step, told.value)] if told is not None else [(c.step, c.seconds) for c in log.columns.values()]
    step, seconds = (np.concatenate([each[at] for each in pairs]) for at in (0, 1))
    finite = np.isfinite(seconds)
    if not finite.any():
        return np.zeros(len(lines))
    order = np.argsort(step[finite], kind="stable")
    return np.interp(lines, step[finite][order], np.maximum.accumulate(seconds[finite][order]))


def _finite(column: Column | None) -> Column | None:
    if column is None:
        return None
    kept = np.isfinite(column.value) & (np.abs(column.value) < 2.0**62)
    return Column(column.step[kept], column.seconds[kept], column.value[kept]) if kept.any() else None
