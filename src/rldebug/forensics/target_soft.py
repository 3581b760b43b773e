"""Targets with the entropy of the policy in them: T = r + γ (f − α log π)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rldebug.forensics.robust_fit import Array, robust
from rldebug.forensics.target_next import Batch
from rldebug.forensics.target_rows import Flags
from rldebug.forensics.target_tried import Tried, as_tried, beats

_ROWS = 24
_GOOD = 0.9


def soft(
    batches: Sequence[Batch], target: Array, reward: Array, inner: Flags, f: dict[str, Array], tol: float
) -> Tried | None:
    """α is often learned, so each batch has its own; γ is the same in all."""
    found = _soft_by(batches, target, reward, inner, f, tol)
    if found is not None or not np.std(reward[inner]) > 1e-9:
        return found
    return _soft_by(batches, target, reward, inner, f, tol, scaled=True)


def _soft_by(
    batches: Sequence[Batch],
    target: Array,
    reward: Array,
    inner: Flags,
    f: dict[str, Array],
    tol: float,
    scaled: bool = False,
) -> Tried | None:
    """scaled: the reward is multiplied by a number, the same in all batches."""
    y = target if scaled else target - reward
    ends = np.cumsum([0, *(len(each.target) for each in batches)])
    spans = [slice(start, stop) for start, stop in pairwise(ends.tolist())]
    best: Tried | None = None
    for which in [name for name in f if name.startswith("logp")]:
        for name, column in list(f.items()):
            if name.startswith("logp"):
                continue
            used = inner & np.isfinite(column) & np.isfinite(f[which])
            bonus = np.full(len(y), np.nan)
            gammas: list[float] = []
            alphas: list[float] = []
            factors: list[float] = []
            for span in spans:
                rows = used[span]
                if rows.sum() < _ROWS // 2:
                    continue
                columns = [f[which][span][rows], column[span][rows], *([reward[span][rows]] if scaled else [])]
                fit = robust(y[span][rows], columns, tol)
                if not fit or fit.share < _GOOD:
                    # The log of the action's scale, which is the same in all rows, may be part of the log-prob.
                    fit = robust(y[span][rows], [*columns, np.ones(int(rows.sum()))], tol)
                if not fit or fit.share < _GOOD:
                    if len(gammas) < 1:
                        break  # the first batch already says no
                    continue
                bonus[span] = fit.coef[0] * f[which][span] + (fit.coef[-1] if len(fit.coef) > len(columns) else 0.0)
                alphas.append(float(fit.coef[0]))
                gammas.append(float(fit.coef[1]))
                factors.append(float(fit.coef[2]) if scaled else 1.0)
            kept = used & np.isfinite(bonus)
            if len(gammas) < 2 or kept.sum() < 0.7 * used.sum() or np.ptp(gammas) > 0.05:
                continue
            factor = float(np.median(factors))
            if not factor > 0 or np.ptp(factors) > 0.01 * factor:
                continue
            fit = robust((target - factor * reward - np.nan_to_num(bonus))[kept], [column[kept]], 3.0 * tol)
            if not fit or fit.share < _GOOD:
                continue
            tried = as_tried(name, "", fit, kept, float(np.median(alphas)), factor)
            tried = replace(tried, logp=f"{which} scaled")
            if best is None or beats(tried, best):
                best = tried
                f[tried.logp] = bonus / (tried.entropy or 1.0)
    return best
