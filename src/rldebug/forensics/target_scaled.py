"""Rewards that are divided by a running estimate: the factor changes from step to step, but is the same in all lanes.

With a few lanes it can be taken out: among the rows of one moment, what is left when everything proportional to the
reward has been removed from target, value and next target still follows the recursion, with γ and λ in it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldebug.forensics.robust_fit import Array, robust, tolerance
from rldebug.forensics.target_rows import Flags, Steps

_LANES = 3
_ROWS = 48
_GOOD = 0.9


def rescaled(steps: Steps) -> Steps | None:
    """The table with rewards as the program scaled them, where that can be found out. None where it cannot."""
    after, following = steps.value_after, steps.next("target")
    keep = steps.plain & np.isfinite(after) & np.isfinite(following) & (np.abs(steps.reward) > 1e-9)
    keep &= np.isfinite(steps.target)  # of some rows it is not known, where they were put in another order
    moment = _moments(steps)
    found = _without_reward(steps, keep, moment)
    if found is None:
        return None
    y, columns, used = found
    tol = tolerance(steps.target[used], steps.target[used])
    for names in (("t",), ("v",), ("v", "t")):
        fit = robust(y[used], [columns[name][used] for name in names], 2.0 * tol)
        if fit and fit.share >= _GOOD:
            break
    else:
        return None
    on = dict(zip(names, fit.coef.tolist(), strict=True))
    left = steps.target - on.get("v", 0.0) * np.nan_to_num(after) - on.get("t", 0.0) * np.nan_to_num(following)
    scale = _scales(steps, left, used, moment, tol)
    return None if scale is None else replace(steps, reward=steps.reward * scale)


def _moments(steps: Steps) -> Array:
    """A number for each (batch, time)."""
    return (
        np.unique(np.stack([steps.batch, steps.time], axis=1), axis=0, return_inverse=True)[1]
        .ravel()
        .astype(np.float64)
    )


def _without_reward(steps: Steps, keep: Flags, moment: Array) -> tuple[Array, dict[str, Array], Flags] | None:
    used = np.zeros(len(steps), dtype=bool)
    made = {"y": steps.target.copy(), "v": steps.value_after.copy(), "t": steps.next("target")}
    for each in np.unique(moment[keep]):
        rows = np.flatnonzero(keep & (moment == each))
        reward = steps.reward[rows]
        if len(rows) < _LANES:
            continue
        for column in made.values():
            column[rows] = column[rows] - reward * float(reward @ column[rows]) / float(reward @ reward)
        used[rows] = True
    return (made["y"], {"v": made["v"], "t": made["t"]}, used) if used.sum() >= _ROWS else None


def _scales(steps: Steps, left: Array, used: Flags, moment: Array, tol: float) -> Array | None:
    """The factor of each row: of its moment, or in between. Not where it moves too fast for the reward to be told:
    in the last step of a rollout, and beside ends, while the statistics are young."""
    scale = np.full(len(steps), np.nan)
    for batch in np.unique(steps.batch):
        own = steps.batch == batch
        times, factors = [], []
        for each in np.unique(moment[own & used]):
            rows = own & used & (moment == each)
            times.append(float(steps.time[rows][0]))
            factors.append(float(np.median(left[rows] / steps.reward[rows])))
        if len(times) >= 4:
            scale[own] = np.interp(steps.time[own], times, factors)
            off = _moves(steps.time[own].astype(np.float64), np.array(times), np.array(factors))
            scale[own] = np.where(off * np.abs(np.nan_to_num(steps.reward[own])) <= 2.0 * tol, scale[own], np.nan)
    # A normaliser is positive, and moves slowly.
    known = scale[np.isfinite(scale)]
    return scale if len(known) and known.min() > 0 and np.isfinite(scale).mean() > 0.5 else None


def _moves(time: Array, times: Array, factors: Array) -> Array:
    """By how much the factor may be off at each time: as much as it moves between those beside it, or moved last."""
    low = np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2)
    step = np.abs(factors[low + 1] - factors[low])
    beyond = np.maximum(np.maximum(times[0] - time, time - times[-1]), 0.0) / (times[low + 1] - times[low])
    return np.asarray(np.where(np.isin(time, times), 0.0, step * np.maximum(beyond, 1.0)))


def shifted(steps: Steps) -> tuple[Steps, Array, Array] | None:
    """The table with rewards as the program scaled and shifted them, both from moment to moment; the factor and the
    shift of each row. None where it cannot be found out."""
    after, following = steps.value_after, steps.next("target")
    keep = steps.plain & np.isfinite(after) & np.isfinite(following)
    moment = _moments(steps)
    groups = [
        rows
        for each in np.unique(moment[keep])
        if len(rows := np.flatnonzero(keep & (moment == each))) > _LANES and float(np.std(steps.reward[rows])) > 1e-6
    ]
    used = np.zeros(len(steps), dtype=bool)
    made = {"y": steps.target.copy(), "v": after.copy(), "t": following.copy()}
    for rows in groups:
        table = np.stack([np.ones(len(rows)), steps.reward[rows]], axis=1)
        for column in made.values():
            column[rows] = column[rows] - table @ np.linalg.lstsq(table, column[rows], rcond=None)[0]
        used[rows] = True
    if used.sum() < _ROWS:
        return None
    tol = tolerance(steps.target[used], steps.target[used])
    fit = robust(made["y"][used], [made["v"][used], made["t"][used]], 2.0 * tol)
    if not fit or fit.share < _GOOD:
        return None
    value, target = fit.coef.tolist()
    left = steps.target - value * np.nan_to_num(after) - target * np.nan_to_num(following)
    scale, shift = np.full(len(steps), np.nan), np.full(len(steps), np.nan)
    for batch in np.unique(steps.batch):
        own, found = steps.batch == batch, []
        for rows in (each for each in groups if steps.batch[each[0]] == batch):
            table = np.stack([np.ones(len(rows)), steps.reward[rows]], axis=1)
            line = np.linalg.lstsq(table, left[rows], rcond=None)[0]
            if np.abs(left[rows] - table @ line).max() <= 4.0 * tol:
                found.append((float(steps.time[rows][0]), *line.tolist()))
        if len(found) >= 4:
            times, constants, slopes = (np.array(column) for column in zip(*sorted(found), strict=True))
            scale[own], shift[own] = (np.interp(steps.time[own], times, each) for each in (slopes, constants))
    known = np.isfinite(scale)
    if known.mean() <= 0.5 or not (scale[known] > 0).all():
        return None
    return replace(steps, reward=steps.reward * scale + shift), scale, shift
