"""Distributions over returns that were moved and put back on their atoms: how far each was moved, how much narrowed.

Atom j goes to shift + scale j, in atoms, is held within the first and the last of them, and shared out between its two
neighbours. Sharing out keeps the mean; the ends of the support do not. So for each scale there is one shift that gives
the mean of the target, and the scale is the one with which the whole target comes out. With both known, so is the mean
that the target would have on atoms without end: that one follows the formula of an ordinary target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_rows import Flags

_LOOKED_AT = 48  # rows whose scale is searched for
_CANDIDATES = 16  # different scales that are tried on all others
_EXACT = 2e-4  # of chance: how far an atom may be off
_SHARP = 2e-5  # and where the scale is read
_HALVINGS = 32
_HIGH = 1.02
_EDGE = 1e-2  # of an atom: a mean that is so near the end of the support may have been anywhere beyond
_WIDE = 0.3  # of an atom: the deviation of a distribution whose scale can be told


@dataclass(frozen=True, eq=False)
class Moved:
    shift: Array
    scale: Array
    exact: Flags  # the target is what comes out with these
    mean: Array  # on atoms without end; NaN where it is not exact


def moved(before: Array, after: Array) -> Moved:
    """By what `after` came from `before`; both (rows, atoms)."""
    rows, atoms = after.shape
    mean = after @ np.arange(atoms)
    told = (mean > _EDGE) & (mean < atoms - 1 - _EDGE)
    wide = _deviation(before) > _WIDE
    candidates = [0.0]
    some = np.flatnonzero(told & wide)
    some = some[:: max(1, len(some) // _LOOKED_AT)][:_LOOKED_AT]
    if len(some):
        scale, off = _searched(before[some], after[some])
        values, counts = np.unique(np.round(scale[off <= _SHARP], 3), return_counts=True)
        # Of rows that are alike to a thousandth, one number: their median.
        for each in values[np.argsort(-counts)][:_CANDIDATES]:
            near = np.abs(scale - each) <= 1e-3
            candidates.append(float(np.median(scale[near & (off <= _SHARP)])))
    best_off, best_scale = np.full(rows, np.inf), np.zeros(rows)
    for each in candidates[1:] + candidates[:1]:
        off = _off(before, after, _shift(before, mean, each), np.full(rows, each))
        better = off < 0.5 * best_off if each == 0.0 else off < best_off
        best_off, best_scale = np.where(better, off, best_off), np.where(better, each, best_scale)
    exact = told & (best_off <= _EXACT)
    shift = _shift(before, mean, best_scale)
    unbounded = shift + best_scale * (before @ np.arange(atoms))
    return Moved(shift, best_scale, exact, np.where(exact, unbounded, np.nan))


def _deviation(chance: Array) -> Array:
    places = np.arange(chance.shape[1])
    mean = chance @ places
    return np.asarray(np.sqrt(np.maximum(chance @ places**2 - mean**2, 0.0)))


def _searched(before: Array, after: Array) -> tuple[Array, Array]:
    """The scale of each row, on finer and finer grids."""
    rows, atoms = after.shape
    mean = after @ np.arange(atoms)
    best, step = np.full(rows, _HIGH / 2), _HIGH / 64
    grid = np.arange(-32, 33)
    for _ in range(6):
        tried = np.clip(best[:, None] + grid * step, 0.0, _HIGH)
        distance = np.stack([_distance(before, after, _shift(before, mean, each), each) for each in tried.T], axis=1)
        best = tried[np.arange(rows), distance.argmin(axis=1)]
        grid, step = np.arange(-6, 7), step / 5.0
    return best, _off(before, after, _shift(before, mean, best), best)


def _shift(before: Array, mean: Array, scale: Array | float) -> Array:
    """With which the mean is right: it rises with the shift."""
    rows, atoms = before.shape
    scaled = np.broadcast_to(np.asarray(scale, dtype=np.float64), (rows,))[:, None] * np.arange(atoms)
    low, high = -scaled[:, -1], np.full(rows, float(atoms - 1))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        held = np.clip(scaled + middle[:, None], 0.0, atoms - 1)
        short = np.einsum("ij,ij->i", before, held) < mean
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray(0.5 * (low + high))


def put_back(before: Array, shift: Array, scale: Array) -> Array:
    rows, atoms = before.shape
    held = np.clip(shift[:, None] + scale[:, None] * np.arange(atoms), 0.0, atoms - 1)
    lower = np.minimum(held.astype(np.int64), atoms - 2)
    upper_part = (held - lower) * before
    flat = np.arange(rows)[:, None] * atoms + lower
    out = np.bincount(flat.ravel(), (before - upper_part).ravel(), rows * atoms)
    out += np.bincount(flat.ravel() + 1, upper_part.ravel(), rows * atoms)
    return np.asarray(out.reshape(rows, atoms))


def _off(before: Array, after: Array, shift: Array, scale: Array) -> Array:
    return np.asarray(np.abs(put_back(before, shift, scale) - after).max(axis=1))


def _distance(before: Array, after: Array, shift: Array, scale: Array) -> Array:
    """Of what was summed up: it falls towards the right scale from afar."""
    return np.asarray(np.abs(np.cumsum(put_back(before, shift, scale) - after, axis=1)).sum(axis=1))
