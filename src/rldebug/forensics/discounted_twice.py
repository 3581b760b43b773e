"""Targets in which rewards are discounted by the time of the episode too: T = γ^t r + γ T'.

With the rewards as they came no one γ fits two rows that are not equally far into their episodes. Here t is counted
from steps that an episode begins with, so that only rows count whose episode was seen from there on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rldebug.evidence.script import UNKNOWN, Script
from rldebug.finding import Where
from rldebug.forensics.robust_fit import Array, tolerance
from rldebug.forensics.target_rows import Flags, Ints, Steps, groups, where_of

_ROWS = 24  # with a reward, and a step before them
_LATE = 4  # t of the latest of them, at least
_SHARE = 0.95
_GAMMAS = 1.0 - np.geomspace(0.4, 1e-3, 240)
_FINER = 4  # times the best is looked for between its neighbours
_PLAIN = 0.5  # share of the rows that fit without it: then it is another formula


@dataclass(frozen=True)
class Twice:
    gamma: float
    share: float
    rows: int
    latest: int
    where: Where


def discounted_twice(script: Script) -> Iterator[Twice]:
    """One for each critic whose targets are made so."""
    for group in groups(script, "regression", "target"):
        steps = group.steps
        age = _ages(steps)
        rows = steps.inner & (age >= 0) & np.isfinite(steps.next("target")) & (np.abs(steps.reward) > 1e-9)
        telling = rows & (age > 0)
        if telling.sum() < _ROWS or age[telling].max() < _LATE or len(np.unique(steps.audit[telling])) < 2:
            continue
        tol = tolerance(steps.target[rows], steps.reward[rows], relative=2e-5)
        gamma, share = _best(steps, rows, age, tol)
        if share >= _SHARE and _best(steps, rows, np.zeros_like(age), tol)[1] < _PLAIN:
            yield Twice(gamma, share, int(rows.sum()), int(age[rows].max()), where_of(group.terms))


def _ages(steps: Steps) -> Ints:
    """How many steps of its episode came before each; UNKNOWN where it was not seen from its beginning."""
    age = np.where(steps.first, 0, UNKNOWN)
    here = np.flatnonzero(steps.first)
    while len(here):
        on = steps.after[here]
        goes = steps.inner[here] & (on >= 0)
        age[on[goes]] = age[here[goes]] + 1
        here = on[goes]
    return age


def _best(steps: Steps, rows: Flags, age: Ints, tol: float) -> tuple[float, float]:
    """The γ that explains most rows, and of how many it is the share."""
    target, following, reward, t = steps.target[rows], steps.next("target")[rows], steps.reward[rows], age[rows]

    def off(gammas: Array) -> Array:
        made = gammas[:, None] ** t * reward + gammas[:, None] * following
        return np.asarray(np.abs(made - target))

    tried = _GAMMAS
    for _ in range(_FINER):
        at = int(np.median(off(tried), axis=1).argmin())
        tried = np.linspace(tried[max(at - 1, 0)], tried[min(at + 1, len(tried) - 1)], 41)
    left = off(tried)
    at = int((left <= tol).sum(axis=1).argmax())
    return float(tried[at]), float((left[at] <= tol).mean())
