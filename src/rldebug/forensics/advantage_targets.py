"""Whether a critic is taught the advantages in place of the returns.

A return follows T = r + γ(1-λ) V' + γλ T': the value of the state itself is not in it. An advantage is the return less
that value: T = r + γ V' - V + γλ T'. The coefficient of V tells them apart, down to rounding, also where advantages or
returns were normalised first: then r, or all but T', are scaled, batch by batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Where
from rldebug.forensics.robust_fit import Array, robust, tolerance
from rldebug.forensics.target_models import right_formula_of
from rldebug.forensics.target_rows import Flags, Steps, groups, where_of
from rldebug.forensics.target_scaled import rescaled

_ROWS = 20
_SHARE = 0.95
_BATCHES = 4  # of one audit each, the largest


@dataclass(frozen=True)
class AdvantageTargets:
    gamma: float
    share: float
    rows: int
    audits: int
    where: Where = field(default_factory=Where)


def advantage_targets(script: Script) -> list[AdvantageTargets]:
    found = []
    for group in groups(script, "regression", "target"):
        if any(each.get("clip") or each.get("nested") for each in group.terms):
            continue  # the old value is part of the term then
        whole = _with_values(group.steps)
        if whole is not None:
            found.append(AdvantageTargets(*whole, where_of(group.terms)))
            continue
        alike = [each for each in map(_of, _largest(group.steps)) if each is not None]
        tried = len(_largest(group.steps))
        if len(alike) >= 2 and len(alike) >= 0.7 * tried:
            gammas = [each[0] for each in alike]
            if max(gammas) - min(gammas) < 5e-3:
                rows, share = sum(each[2] for each in alike), min(each[1] for each in alike)
                found.append(AdvantageTargets(float(np.median(gammas)), share, rows, len(alike), where_of(group.terms)))
    return found


def _with_values(steps: Steps) -> tuple[float, float, int, int] | None:
    """Returns, once the values are added: γ, share, rows and audits. Only where they are none as they are."""
    known = np.isfinite(steps.value)
    if known.mean() < 0.5 or float(np.std(steps.value[known])) < 1e-3 * float(np.std(steps.target[known])):
        return None
    added = replace(steps, target=steps.target + steps.value)
    for bare, table in ((steps, added), (rescaled(steps), rescaled(added))):
        if bare is not None and right_formula_of(bare) is not None:
            return None
        formula = None if table is None else right_formula_of(table)
        if formula is not None and formula.gamma is not None and formula.gamma > 0.3 and formula.share >= _SHARE:
            return formula.gamma, formula.share, formula.rows, formula.audits
    return None


def _largest(steps: Steps) -> list[Steps]:
    """One batch of each audit, of those with enough rows."""
    best: dict[int, tuple[int, int]] = {}
    for batch in np.unique(steps.batch):
        keep = steps.batch == batch
        audit, count = int(steps.audit[keep][0]), int((keep & steps.inner).sum())
        if count >= _ROWS and count > best.get(audit, (0, 0))[0]:
            best[audit] = (count, int(batch))
    chosen = sorted(best.values(), reverse=True)[:_BATCHES]
    return [steps.of(batch) for _, batch in chosen]


def _of(steps: Steps) -> tuple[float, float, int] | None:
    target, reward, value, onward = steps.target, steps.reward, steps.value, steps.value_after
    following = steps.next("target")
    keep: Flags = steps.plain if steps.plain.sum() >= _ROWS else steps.inner
    for each in (target, reward, value, onward, following):
        keep = keep & np.isfinite(each)
    if keep.sum() < _ROWS:
        return None
    tol = tolerance(target[keep], reward[keep], value[keep])
    if min(float(np.std(value[keep])), float(np.std(following[keep])), float(np.std(target[keep]))) < 20 * tol:
        return None
    one = np.ones(int(keep.sum()))
    rewards = [reward[keep]] if float(np.std(reward[keep])) > 1e-6 else []
    free: list[Array] = [*rewards, one]
    # A return, whatever it was scaled by: nothing is said.
    plain = robust(target[keep], [*free, onward[keep], following[keep]], tol)
    if plain and plain.share > 0.5:
        return None
    fit = robust(target[keep], [*free, onward[keep], value[keep], following[keep]], tol)
    if not fit or fit.share < _SHARE:
        return None
    on_next, own, carried = (float(each) for each in fit.coef[-3:])
    if own > -1e-3 or not -0.01 <= carried <= 1.01:
        return None
    gamma = -on_next / own
    scaled = bool(rewards) and abs(float(fit.coef[0]) + own) < 0.01 * abs(own)  # all was scaled alike
    if not 0.3 < gamma < 1.005 or not (abs(own + 1.0) < 5e-3 or scaled or not rewards):
        return None
    return gamma, fit.share, int(keep.sum())
