"""Robust fits: least squares on the rows that agree exactly, found by random subsets. A private generator.

Targets are arithmetic, not statistics: where a formula is the right one, nearly every row fits it down to rounding.
So a formula is judged by the share of rows that it explains, never by how small the average residual is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SUBSETS = 32
_ROWS = 256  # that subsets are drawn from, and judged on
_HOPELESS = 0.15  # share of those that the best subset explains: no fit is made


@dataclass(frozen=True, eq=False)
class Fitted:
    coef: Array
    share: float  # of the rows that the formula explains
    rms: float  # of those, absolute
    rows: int
    agree: NDArray[np.bool_]
    tol: float

    def __bool__(self) -> bool:
        return self.rows > 0


NOTHING = Fitted(np.empty(0), 0.0, float("inf"), 0, np.empty(0, dtype=bool), 0.0)


def tolerance(*columns: Array, relative: float = 1e-4) -> float:
    """How far rounding may take a sum of these columns, in single precision, with some room."""
    spread = max(float(np.std(columns[0])), 1e-12) if len(columns[0]) else 1.0
    size = max((float(np.max(np.abs(each), initial=0.0)) for each in columns), default=1.0)
    return max(relative * spread, 3e-6 * size, 1e-9)


def robust(y: Array, columns: Sequence[Array], tol: float, *, seed: int = 0) -> Fitted:
    """y as a weighted sum of the columns. With no columns: whether y is zero."""
    rows, width = len(y), len(columns)
    if rows == 0:
        return NOTHING
    if width == 0:
        agree = np.abs(y) <= tol
        return _fitted(np.empty(0), y, agree, tol)
    x = np.stack(columns, axis=1)
    if rows < width + 2:
        return NOTHING
    scale = np.sqrt((x * x).mean(axis=0))
    if not np.isfinite(scale).all() or (scale < 1e-12).any():
        return NOTHING  # a column of zeros: its coefficient is anything
    x = x / scale
    generator = np.random.Generator(np.random.PCG64(seed))
    some = np.arange(rows) if rows <= _ROWS else generator.choice(rows, _ROWS, replace=False)
    picked = some[generator.integers(0, len(some), size=(_SUBSETS, width + 1))]
    tries = np.einsum("skn,sn->sk", np.linalg.pinv(x[picked], rcond=1e-9), y[picked])
    off = np.abs(x[some] @ tries.T - y[some, None])
    hits = (off <= tol).mean(axis=0)
    coef = tries[int(hits.argmax())]
    if hits.max() < _HOPELESS:
        return NOTHING
    agree = np.abs(x @ coef - y) <= tol
    for _ in range(4):
        if agree.sum() < width + 1:
            break
        better = np.linalg.lstsq(x[agree], y[agree], rcond=1e-10)[0]
        now = np.abs(x @ better - y) <= tol
        if now.sum() < agree.sum():
            break
        coef = better
        if (now == agree).all():
            break
        agree = now
    return _fitted(coef / scale, y - x @ coef, agree, tol)


def _fitted(coef: Array, residual: Array, agree: NDArray[np.bool_], tol: float) -> Fitted:
    inner = residual[agree]
    rms = float(np.sqrt((inner * inner).mean())) if len(inner) else float("inf")
    return Fitted(coef, float(agree.mean()), rms, len(residual), agree, tol)


def affine(y: Array, x: Array, tol: float, *, seed: int = 0) -> Fitted:
    """y = coef[0] x + coef[1]."""
    return robust(y, [x, np.ones_like(x)], tol, seed=seed)
