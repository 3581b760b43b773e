"""Goal rows: rows of a loss beside the steps that they are, where the goal of a step was exchanged in hindsight.

Goals are what stays as it is within every episode and differs between them: a part of the observation, or what the
network is given beside it. Which numbers of an observation the network
is given, and where, shows in what it is asked while the program acts. The numbers that are no goal tell which step a
row of a loss is, whatever became of its goal; and the steps of the environment tell what it pays for reaching one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.forensics.batches import Call, acting, calls_of, owned
from rldebug.forensics.target_free import Free, asked_batch, free_formula
from rldebug.forensics.target_twins import world_of

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

Pair = tuple[Audit, Event, Array, Array]

_STEPS = 60
_GOALS = 4  # different ones
_PAID = 2  # steps that reached theirs
_ROWS = 16
_TERMS = 24


@dataclass(frozen=True, eq=False)
class Inputs:
    """Which column of an observation each column of the input is, while the program acts."""

    state: Ints  # places in the input
    state_of: Ints  # columns of the observation, one for each of these
    goal: Ints
    goal_of: Ints
    width: int


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of the environment, each once: what was observed before and after, and paid.

    Where the program puts the goal beside the observation, it is what the network was given before, and would have been
    after; `inputs` says which of it is what.
    """

    before: Array
    after: Array
    reward: Array
    inputs: Inputs | None = None

    @property
    def steady(self) -> Ints:
        """Columns that never change within an episode, and differ between episodes."""
        stays = (self.before == self.after).all(axis=0)
        return np.flatnonzero(stays & (np.ptp(self.before, axis=0) > 1e-6))


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one loss that are steps of the environment, but for their goals."""

    audit: Audit
    term: Event
    own: Array  # the goal of what is predicted
    next: Array  # the goal of what it is bootstrapped from
    led: Array  # the observation that the step led to
    kept: Flags  # the goal is the one that the step was taken with
    place: Ints  # in the loss


@lru_cache(maxsize=8)
def goal_rows(script: Script) -> tuple[Rows, ...]:
    steps = steps_of(script)
    inputs = inputs_of(script, steps) if steps is not None else None
    if steps is None or inputs is None:
        return ()
    known: dict[bytes, list[int]] = {}
    for number, key in enumerate(keys_of(steps.before[:, inputs.state_of], steps.after[:, inputs.state_of])):
        known.setdefault(key, []).append(number)
    found = []
    for audit, term, own, after in pairs(script, inputs.width):
        keys = keys_of(own[:, inputs.state], after[:, inputs.state])
        place = np.array([number for number, key in enumerate(keys) if key in known], dtype=np.int64)
        if not len(place):
            continue
        several = [known[keys[each]] for each in place]
        goal = own[place][:, inputs.goal]
        kept = [bool((np.abs(steps.before[which][:, inputs.goal_of] - one) < 1e-6).all(axis=1).any())
                for which, one in zip(several, goal, strict=True)]  # fmt: skip
        led = steps.after[[each[0] for each in several]]
        found.append(Rows(audit, term, goal, after[place][:, inputs.goal], led, np.array(kept, dtype=bool), place))
    return tuple(found)


@lru_cache(maxsize=8)
def steps_of(script: Script) -> Steps | None:
    """None where neither a part of the observations is a goal, nor what stands beside them."""
    return _observed(script) or _beside(script)


def _observed(script: Script) -> Steps | None:
    width = max((each.nodes.obs.shape[1] for each in script.audits if len(each.nodes)), default=0)
    stays = np.ones(width, dtype=bool)
    parts: list[tuple[Ints, Array, Array, Array]] = []
    for audit in script.audits:
        nodes = audit.nodes
        if not len(nodes) or nodes.obs.shape[1] != width or not stays.any():
            continue
        led = nodes.index(nodes.nxt)
        good = nodes.acted & ~nodes.phantom & (led >= 0) & np.isfinite(nodes.reward)
        good &= np.isfinite(nodes.obs).all(axis=1) & np.isfinite(nodes.obs[led]).all(axis=1)
        before, after = nodes.obs[good].astype(np.float64), nodes.obs[led[good]].astype(np.float64)
        stays &= (before == after).all(axis=0)
        parts.append((nodes.id[good], before, after, nodes.reward[good]))
    if not stays.any() or not parts:
        return None
    number, before, after, reward = (np.concatenate(each) for each in zip(*parts, strict=True))
    once = np.unique(number, return_index=True)[1]
    steps = Steps(before[once], after[once], reward[once])
    if len(once) < _STEPS or not 0 < len(steps.steady) < width:
        return None
    return steps if len(np.unique(np.round(steps.before[:, steps.steady], 6), axis=0)) >= _GOALS else None


def _beside(script: Script) -> Steps | None:
    """Of what the network is given to act: the observation, and numbers that it keeps until the episode is over."""
    given: dict[int, Array] = {}
    for call in acting(script):
        if call.input is not None and call.known.all() and len(call.input) == len(call.rows):
            given.update(zip(call.rows.tolist(), call.input, strict=True))
    observed = max((each.nodes.obs.shape[1] for each in script.audits if len(each.nodes)), default=0)
    same = alike(script, observed) if given and observed else None
    if same is None:
        return None
    width = len(same)
    state = np.flatnonzero(same.any(axis=1))
    apart = np.flatnonzero(~same.any(axis=1))
    if not len(state) or not len(apart):
        return None
    of = same[state].argmax(axis=1)
    before: dict[int, Array] = {}
    after: dict[int, Array] = {}
    reward: dict[int, float] = {}
    kept = 0
    for audit in script.audits:
        nodes = audit.nodes
        if not len(nodes) or nodes.obs.shape[1] != observed:
            continue
        led = nodes.index(nodes.nxt)
        good = nodes.acted & ~nodes.phantom & (led >= 0) & np.isfinite(nodes.reward)
        for episode in episodes_of(nodes):
            asked = [one for each in nodes.id[episode].tolist() if (one := given.get(each)) is not None]
            if not asked or any(len(each) != width for each in asked):
                continue
            if any((each[apart] != asked[0][apart]).any() for each in asked):
                return None  # no goal: a clock, an action, a history
            kept += len(asked) - 1
            for place in episode[good[episode]].tolist():
                rows = nodes.obs[[place, led[place]]].astype(np.float64)
                if np.isfinite(rows).all():
                    key = int(nodes.id[place])
                    before[key], after[key], reward[key] = asked[0].copy(), asked[0].copy(), float(nodes.reward[place])
                    before[key][state], after[key][state] = rows[:, of]
    if len(before) < _STEPS or kept < _STEPS // 3:
        return None
    first, last = np.array(list(before.values())), np.array(list(after.values()))
    goal = apart[np.ptp(first[:, apart], axis=0) > 1e-6]
    if not len(goal) or len(np.unique(np.round(first[:, goal], 6), axis=0)) < _GOALS:
        return None
    return Steps(first, last, np.array(list(reward.values())), Inputs(state, state, goal, goal, width))


def episodes_of(nodes: Nodes) -> Iterator[Ints]:
    """Places of the nodes of each episode, lane by lane."""
    order = np.lexsort((nodes.id, nodes.lane, nodes.stream))
    lane = np.stack([nodes.stream[order], nodes.lane[order]])
    starts = nodes.first[order] | np.append(True, (lane[:, 1:] != lane[:, :-1]).any(axis=0))
    cuts = np.flatnonzero(starts)
    yield from np.split(order, cuts[cuts > 0]) if len(order) else ()


def inputs_of(script: Script, steps: Steps) -> Inputs | None:
    if steps.inputs is not None:
        return steps.inputs
    same = alike(script, steps.before.shape[1])
    if same is None:
        return None
    steady = np.zeros(same.shape[1], dtype=bool)
    steady[steps.steady] = True
    goal = np.flatnonzero((same & steady).any(axis=1))
    state = np.flatnonzero(same.any(axis=1) & ~(same & steady).any(axis=1))
    if not len(goal) or not len(state):
        return None
    return Inputs(state, same[state].argmax(axis=1), goal, (same & steady)[goal].argmax(axis=1), len(same))


def alike(script: Script, observed: int) -> Flags | None:
    """(columns of the input, columns of the observation): which are the same numbers, while the program acts."""
    calls = [each for each in acting(script) if each.input is not None and each.known.all()]
    widths = [each.input.shape[1] for each in calls if each.input is not None]
    if not widths:
        return None
    width = max(set(widths), key=widths.count)
    usual = [(each, each.input) for each in calls if each.input is not None and each.input.shape[1] == width]
    given = [each for _, each in usual]
    seen = [each.audit.nodes.obs[each.places] for each, _ in usual]
    if sum(len(each) for each in given) < _ROWS or any(each.shape[1] != observed for each in seen):
        return None
    x, o = np.concatenate(given), np.concatenate(seen).astype(np.float64)
    good = np.isfinite(o).all(axis=1)
    if good.sum() < _ROWS:
        return None
    return np.asarray(np.abs(x[good][:, :, None] - o[good][:, None, :]).max(axis=0) < 1e-6)


def pairs(script: Script, width: int) -> Iterator[Pair]:
    """Of each regression the inputs that are predicted, and those that the target is bootstrapped from."""
    by_update: dict[tuple[int, int], list[Call]] = {}
    for call in calls_of(script):
        if not call.event.get("acting") and call.input is not None and call.input.shape[1] >= width:
            by_update.setdefault((call.audit.number, call.update), []).append(call)
    for audit, term in script.terms("regression"):
        count = np.size(term.arrays.get("prediction", ()))
        if count < _ROWS:
            continue
        near = [each for each in by_update.get((audit.number, term.update), ())
                if each.order < term.order and len(each.rows) == count]  # fmt: skip
        learning = [_first(each, width) for each in near if each.event["grad"] and owned(script, each.module)]
        others = [_first(each, width) for each in near if not each.event["grad"]]
        if learning and all(np.array_equal(each, learning[0]) for each in learning):
            after = next((each for each in others if not np.array_equal(each, learning[0])), None)
            if after is not None:
                yield audit, term, learning[0], after


def _first(call: Call, width: int) -> Array:
    """An action may follow what was observed."""
    assert call.input is not None
    return call.input[:, :width]


def keys_of(before: NDArray[np.floating[Any]], after: NDArray[np.floating[Any]]) -> list[bytes]:
    both = np.concatenate([before, after], axis=1).astype(np.float32) + np.float32(0)
    return [each.tobytes() for each in np.round(both, 5) + np.float32(0)]


# ── what reaching a goal is paid ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Reaching:
    """The columns that are held against the goal, and how near is there."""

    achieved: Ints
    goal: Ints
    within: float
    beyond: float
    paid: float


def reaching(steps: Steps) -> Reaching | None:
    """Where one reward is paid for one thing alone: that some columns, after the step, are the goal."""
    best = float(steps.reward.max())
    paid = np.abs(steps.reward - best) < 1e-5
    goal, width = steps.steady, steps.before.shape[1]
    if paid.sum() < _PAID or (~paid).sum() < _STEPS // 3 or np.abs(np.diff(goal) - 1).any():
        return None
    for start in range(width - len(goal) + 1):
        block = np.arange(start, start + len(goal))
        if np.isin(block, goal).any():
            continue
        far = np.linalg.norm(steps.after[:, block] - steps.before[:, goal], axis=1)
        if far[paid].max() < 0.999 * far[~paid].min():
            return Reaching(block, goal, float(far[paid].max()), float(far[~paid].min()), best)
    return None


@dataclass(frozen=True)
class Paid:
    """Rows whose goal was exchanged for one that the step reaches, or does not, by what is in their target."""

    reached: int
    unpaid: int  # of those
    missed: int
    overpaid: int  # of those
    reward: float
    audits: int
    term: Event


@lru_cache(maxsize=8)
def paid_in_hindsight(script: Script) -> Paid | None:
    steps = steps_of(script)
    inputs = inputs_of(script, steps) if steps is not None else None
    mark = reaching(steps) if steps is not None else None
    if steps is None or inputs is None or mark is None or not np.isin(mark.goal, inputs.goal_of).all():
        return None
    rows = goal_rows(script)[:_TERMS]
    rewards = _rewards(script, rows)
    order = [int(np.flatnonzero(inputs.goal_of == each)[0]) for each in mark.goal]
    reached = unpaid = missed = overpaid = 0
    audits = set()
    for each, reward in zip(rows, rewards, strict=True):
        far = np.linalg.norm(each.led[:, mark.achieved] - each.own[:, order], axis=1)
        told = ~each.kept & np.isfinite(reward)
        there, away = told & (far <= mark.within + 1e-6), told & (far >= mark.beyond - 1e-6)
        full = np.abs(reward - mark.paid) < 1e-5
        reached, missed = reached + int(there.sum()), missed + int(away.sum())
        unpaid, overpaid = unpaid + int((there & ~full).sum()), overpaid + int((away & full).sum())
        if (there & ~full).any() or (away & full).any():
            audits.add(each.audit.number)
    if not reached and not missed:
        return None
    return Paid(reached, unpaid, missed, overpaid, mark.paid, len(audits), rows[0].term)


def _rewards(script: Script, rows: Sequence[Rows]) -> list[Array]:
    """What was paid in each row, read off its target; NaN where it cannot be."""
    terms = [(each.audit, each.term) for each in rows]
    free: Free | None = free_formula(world_of(script), terms)
    found, start = [], 0
    for each in rows:
        batch = asked_batch(each.audit, each.term)
        if free is None or batch is None:
            found.append(np.full(len(each.place), np.nan))
            continue
        found.append(free.reward[start : start + len(batch[0])][each.place])
        start += len(batch[0])
    return found
