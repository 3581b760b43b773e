"""What a target does at the ends: of an episode, by a time limit, of a rollout, and in the steps beside them.

The formula of the steps within episodes is known by then (target_models), so each way of treating an end gives a
number for each row. A way is believed where it hits nearly all rows, and the right one hits next to none of those where
they differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_models import Formula
from rldebug.forensics.target_rows import Flags, Steps

_HIT = 0.9
_STRAY = 0.1
_ROWS = 4
_FEW = 3  # rows that are enough where every one of them hits, in as many audits: a rollout has one last step
WIDER = 3.0  # tolerance at ends, in tolerances within
_APART = 8.0  # two ways are told apart where they differ by this many tolerances


@dataclass(frozen=True)
class Ending:
    """A kind of row, and the way its target was seen to be made."""

    kind: str  # terminated, truncated, rollout, first, before, eve (before a terminated one)
    way: str  # zero, final, follows, value, leak, own, twice, …
    right: bool
    rows: int  # that tell
    hit: int  # of them that agree
    audits: int
    share: float  # of all rows of the table, how many are of this kind


_RIGHT: Mapping[str, tuple[str, ...]] = {
    "terminated": ("zero",),
    "truncated": ("final",),
    "rollout": ("value", "final"),
    "first": ("follows",),
    "before": ("follows",),
    "eve": ("follows",),
}
# In the order in which they are believed where several hit alike.
_WRONG: Mapping[str, tuple[str, ...]] = {
    "terminated": ("follows", "value", "leak", "final", "own", "lost", "itself"),
    "truncated": ("zero", "follows", "value", "carried", "leak", "twice"),
    "rollout": ("zero", "own", "itself", "begun"),
    "first": ("zero", "leak"),
    "before": ("zero",),
    # A step that a time limit cut off may be left out, and the one before it be the last: no end of a task is.
    "eve": ("value",),
}


def endings(steps: Steps, formula: Formula, *, played_on: bool = False) -> tuple[Ending, ...]:
    """`played_on`: where the program stops acting to learn, the episode goes on afterwards; never is one given up."""
    if not formula.simple:
        return ()
    ways = ways_of(steps, formula)
    found: list[Ending] = []
    every = kinds_of(replace(steps, reward=np.zeros(len(steps))))  # also those whose reward is not known
    for kind, keep in kinds_of(steps).items():
        bootstraps = formula.name in ("td", "gae") or (played_on and kind == "rollout")
        ending = _ending(kind, keep, steps, ways, WIDER * formula.tol, bootstraps)
        if ending is not None and (kind != "eve" or not ending.right):  # one of "before", which says so
            found.append(replace(ending, share=float(every[kind].mean())))
    return tuple(found)


def kinds_of(steps: Steps) -> dict[str, Flags]:
    ends = np.append(steps.done, False)[steps.after]
    eve = np.append(steps.terminated, False)[steps.after]
    real = ~steps.phantom & np.isfinite(steps.reward)
    return {
        "terminated": steps.terminated & real,
        "truncated": steps.truncated & real,
        "rollout": steps.end & real,
        # Where the rollout begins with it, the flag of the step before may be lost in any program.
        "first": steps.first & steps.inner & (steps.before >= 0) & ~ends & real,
        "before": steps.inner & ends & ~steps.first & real,
        "eve": steps.inner & eve & ~steps.first & real,
    }


def ways_of(steps: Steps, formula: Formula) -> dict[str, Array]:
    reward = formula.reward * _changed(steps.reward, formula.changed)
    gamma = formula.gamma or 0.0
    last = 0.0
    if formula.constant:
        # T = a G + b: within an episode the constant is b (1 - γ), at its end it is all of b.
        last = formula.constant / (1.0 - gamma) if abs(1.0 - gamma) > 1e-3 else np.nan
    after, target = steps.value_after, steps.next("target")
    onward = (
        formula.on_target * target if not formula.on_value else formula.on_value * after + formula.on_target * target
    )
    if not formula.on_target:
        onward = formula.on_value * after
    return {
        "zero": reward + last,
        "lost": 0.0 * reward + last,
        "follows": reward + formula.constant + onward,
        "value": reward + gamma * after + last,
        "final": reward + gamma * steps.value_next + last,
        "leak": reward + formula.on_target * (target - after) + last,
        "carried": reward + gamma * steps.value_next + formula.on_target * (target - after) + last,
        "twice": reward + formula.constant + gamma * steps.value_next + onward,
        "own": reward + gamma * steps.value + last,
        "itself": steps.value,
        "begun": reward + gamma * _of_the_first(steps) + last,
    }


def _of_the_first(steps: Steps) -> Array:
    """The value of the observation that the lane began the rollout with."""
    first = {
        (batch, lane): value
        for batch, lane, time, value in zip(
            steps.batch.tolist(), steps.lane.tolist(), steps.time.tolist(), steps.value.tolist(), strict=True
        )
        if time == 0
    }
    keys = zip(steps.batch.tolist(), steps.lane.tolist(), strict=True)
    found = np.array([first.get(each, np.nan) for each in keys], dtype=np.float64)
    return np.where(steps.time > 0, found, np.nan)


def _changed(reward: Array, how: str) -> Array:
    return np.clip(reward, -1.0, 1.0) if how == "clip" else np.sign(reward) if how == "sign" else reward


def _ending(
    kind: str, keep: Flags, steps: Steps, ways: Mapping[str, Array], tol: float, bootstraps: bool
) -> Ending | None:
    total = int(keep.sum())
    if total < _FEW:
        return None
    share = total / len(steps)
    right = [ways[each] for each in _RIGHT[kind] if np.isfinite(ways[each][keep]).any()]
    if not right:
        # Without values there is nothing to go on with; but a critic that is never asked was not bootstrapped from.
        if kind == "rollout" and bootstraps:
            return _never_asked(keep, steps, ways, tol, share)
        if kind != "truncated":
            return None
        found = _asked_of_the_reset(keep, steps, ways, tol, share) if bootstraps else None
        return found or _not_asked_at_limits(keep, steps, ways, tol, share)
    best: Ending | None = None
    for way in _WRONG[kind]:
        told = _told(way, keep, ways, right, tol)
        if told.sum() < _FEW:
            continue
        hit = told & (np.abs(steps.target - ways[way]) <= tol)
        stray = np.zeros(len(steps), dtype=bool)
        for each in right:
            stray |= told & (np.abs(steps.target - each) <= tol)
        audits = len(np.unique(steps.audit[hit]))
        good = hit.sum() >= _HIT * told.sum() and stray.sum() <= _STRAY * told.sum() and audits >= 2
        if told.sum() < _ROWS:
            good = bool((hit == told).all()) and not stray.any() and audits >= _FEW and told.sum() == total
        # A critic may be asked about ends that are time limits only: the others are then seen to be treated rightly.
        beside = keep & ~np.isfinite(ways[way])
        rightly = sum(int((beside & (np.abs(steps.target - each) <= tol)).sum()) for each in right)
        good = good and rightly <= max(_ROWS, 0.25 * hit.sum())
        if good and (best is None or hit.sum() > best.hit):
            best = Ending(kind, way, False, int(told.sum()), int(hit.sum()), audits, share)
    if best is not None or total < _ROWS:
        return best
    for way in _RIGHT[kind]:
        hit = keep & (np.abs(steps.target - ways[way]) <= tol)
        if hit.sum() >= _HIT * total:
            return Ending(kind, way, True, total, int(hit.sum()), len(np.unique(steps.audit[hit])), share)
    return None


def _never_asked(keep: Flags, steps: Steps, ways: Mapping[str, Array], tol: float, share: float) -> Ending | None:
    """The last steps of rollouts, where the value of what follows them was never computed."""
    by_value = keep & (np.abs(steps.value) > _APART * tol)
    for way in ("zero", "own", "itself", "begun"):
        told = by_value & np.isfinite(ways[way])
        if told.sum() < 0.5 * by_value.sum():
            continue
        hit = told & (np.abs(steps.target - ways[way]) <= tol)
        audits = len(np.unique(steps.audit[hit]))
        # Its own value is no way to end anything; the reward alone may be an end that nobody was told of.
        few = way != "zero" and told.sum() == keep.sum() == hit.sum() and audits >= _FEW
        if few or (told.sum() >= 2 * _ROWS and hit.sum() >= _HIT * told.sum() and audits >= 2):
            return Ending("rollout", way, False, int(told.sum()), int(hit.sum()), audits, share)
    return None


def _asked_of_the_reset(
    keep: Flags, steps: Steps, ways: Mapping[str, Array], tol: float, share: float
) -> Ending | None:
    """Steps that were cut off, where the value of the last observation was never computed: that of the reset was."""
    for way in ("follows", "value"):
        told = _told(way, keep, ways, [ways["zero"]], tol)
        hit = told & (np.abs(steps.target - ways[way]) <= tol)
        audits = len(np.unique(steps.audit[hit]))
        if told.sum() >= 2 * _ROWS and hit.sum() >= _HIT * told.sum() and audits >= 2:
            return Ending("truncated", way, False, int(told.sum()), int(hit.sum()), audits, share)
    return None


def _not_asked_at_limits(
    keep: Flags, steps: Steps, ways: Mapping[str, Array], tol: float, share: float
) -> Ending | None:
    """Steps that were cut off, learned as the reward alone by a program that has values of its own steps."""
    told = keep & (np.abs(steps.value) > _APART * tol)
    hit = told & (np.abs(steps.target - ways["zero"]) <= tol)
    audits = len(np.unique(steps.audit[hit]))
    if told.sum() < 2 * _ROWS or hit.sum() < _HIT * told.sum() or audits < 2:
        return None
    return Ending("truncated", "zero", False, int(told.sum()), int(hit.sum()), audits, share)


def _told(way: str, keep: Flags, ways: Mapping[str, Array], right: Sequence[Array], tol: float) -> Flags:
    """Rows on which the wrong way and the right ones give different numbers."""
    told = keep & np.isfinite(ways[way])
    for each in right:
        told = told & ~(np.abs(ways[way] - each) <= _APART * tol)
    return np.asarray(told)


def wrong(found: Sequence[Ending], kind: str, *ways: str) -> Ending | None:
    return next((each for each in found if each.kind == kind and not each.right and each.way in ways), None)
