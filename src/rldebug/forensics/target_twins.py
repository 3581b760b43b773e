"""Twins: which step a row of a loss is, where many steps start from the same observation.

A grid world has a few dozen observations, and each comes back every few steps. A row is then known by its whole
transition: the observation, the action, and what its target was bootstrapped from. All steps recorded that look
like that stand for it, as far as they agree on the reward and the end; where they do not, nothing is known of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Nodes, Script

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

_MOST = 65536  # nodes that are put together
_COPIES = 64  # steps that are compared for one row


@dataclass(frozen=True, eq=False)
class Ahead:
    """What follows each node within n steps, or to the end of the episode."""

    look: Ints  # of the observation it leads to; UNKNOWN where it is not recorded
    rewards: Array  # (nodes, n): 0 after the end
    length: Ints  # steps taken
    terminated: Flags
    truncated: Flags
    across: Ints  # the look of what comes after n steps where ends are run over, through resets
    repeated: Flags  # the same action in all of them: the program holds it for several steps


@dataclass(frozen=True, eq=False)
class World:
    """Every node of every audit, once. look: a number for each different observation."""

    id: Ints
    look: Ints
    action: Array
    reward: Array
    terminated: Flags
    truncated: Flags
    usable: Flags  # a step of the environment was taken from here
    twin: Flags  # others look the same
    nxt: Ints  # places
    succ: Ints
    _ahead: dict[int, Ahead]

    def place(self, ids: Ints) -> Ints:
        if not len(self.id):
            return np.full(len(ids), UNKNOWN, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.id, ids), len(self.id) - 1)
        return np.where(self.id[at] == ids, at, UNKNOWN)

    def looks(self, ids: Ints) -> Ints:
        at = self.place(ids)
        return np.where(at >= 0, self.look[at], UNKNOWN) if len(self.id) else at

    def near(self, ids: Ints) -> dict[str, Array]:
        """Rewards of the step before, and of the one after, in the lane."""
        at = self.place(ids)
        safe = np.where(at >= 0, at, 0)
        reward = np.append(np.where(self.usable, self.reward, np.nan), np.nan)
        before = self._previous[safe]
        after = np.where(self.usable[self.succ[safe]], self.succ[safe], np.append(self.succ, UNKNOWN)[self.succ[safe]])
        after = np.where(self.succ[safe] >= 0, after, UNKNOWN)
        found = {"reward-late": reward[before], "reward-early": reward[after]}
        return {name: np.where(at >= 0, each, np.nan) for name, each in found.items()}

    @cached_property
    def _previous(self) -> Ints:
        found = np.full(len(self.id), UNKNOWN, dtype=np.int64)
        for led in (self.nxt, self.succ):
            here = (led >= 0) & self.usable
            found[led[here]] = np.flatnonzero(here)
        return found

    def ahead(self, n: int) -> Ahead:
        if n not in self._ahead:
            self._ahead[n] = self._walked(n)
        return self._ahead[n]

    def reached(self, n: int, id: int, action: float | None) -> frozenset[int]:
        """What the n-th step on from such a row may show, where n steps were made."""
        key = n, id, action
        if key not in self._reached:
            lengths = self.ahead(n).length
            led = self.leading(n, id, action)
            self._reached[key] = frozenset(
                look for look, steps in led.items() if look >= 0 and (lengths[steps] == n).any()
            )
        return self._reached[key]

    @cached_property
    def _reached(self) -> dict[tuple[int, int, float | None], frozenset[int]]:
        return {}

    def _walked(self, n: int) -> Ahead:
        count = len(self.id)
        at = np.arange(count)
        on = self.usable.copy()
        rewards = np.zeros((count, n))
        length = np.zeros(count, dtype=np.int64)
        terminated, truncated = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        lost = ~self.usable
        repeated = np.ones(count, dtype=bool)
        for k in range(n):
            lost |= on & ((at < 0) | ~np.append(self.usable, False)[at])
            on &= ~lost
            rewards[on, k] = self.reward[at[on]]
            repeated[on] &= self.action[at[on]] == self.action[on]
            length[on] += 1
            terminated[on] = self.terminated[at[on]]
            truncated[on] = self.truncated[at[on]] & ~self.terminated[at[on]]
            ended = terminated | truncated
            moved = np.append(self.nxt, UNKNOWN)[at]
            at = np.where(on, moved, at)
            on = on & ~ended
        look = np.where(lost | (at < 0), UNKNOWN, np.append(self.look, UNKNOWN)[at])
        return Ahead(look, rewards, length, terminated, truncated, self._across(n), repeated)

    def _across(self, n: int) -> Ints:
        """n steps on in the lane, whatever ends on the way; the observation of the reset is the next one acted on."""
        usable = np.append(self.usable, False)
        succ, nxt = np.append(self.succ, UNKNOWN), np.append(self.nxt, UNKNOWN)
        at = np.arange(len(self.id))
        for k in range(n):
            led = succ[at] if k < n - 1 else nxt[at]
            # The final observation is not acted on: one further is the reset.
            idle = (led >= 0) & ~usable[led] & (k < n - 1)
            at = np.where(idle, succ[led], led)
        return np.where(at >= 0, np.append(self.look, UNKNOWN)[at], UNKNOWN)

    @cached_property
    def _by_look(self) -> dict[tuple[int, float | None], list[int]]:
        """The newest steps from each observation, with each action and with any."""
        found: dict[tuple[int, float | None], list[int]] = {}
        for place in np.flatnonzero(self.usable)[::-1].tolist():
            for action in (None, float(self.action[place])):
                several = found.setdefault((int(self.look[place]), action), [])
                if len(several) < _COPIES:
                    several.append(place)
        return found

    def copies(self, id: int, action: float | None) -> list[int]:
        """Places of the steps that the row may be: those from an equal observation, with this action."""
        at = self._place.get(id, UNKNOWN)
        if at < 0:
            return []
        if not self.twin[at]:
            return [at] if self.usable[at] else []
        return self._by_look.get((int(self.look[at]), action), [])

    def leading(self, n: int, id: int, action: float | None) -> dict[int, list[int]]:
        """By the look of what they lead to within n steps: the steps that the row may be. The newest of each."""
        at = self._place.get(id, UNKNOWN)
        if at < 0 or not (self.usable[at] or self.twin[at]):
            return {}
        if not self.twin[at]:
            return {int(self.ahead(n).look[at]): [at]}
        return self._leading(n, action is not None).get((int(self.look[at]), action), {})

    def _leading(self, n: int, by_action: bool) -> dict[tuple[int, float | None], dict[int, list[int]]]:
        if (n, by_action) not in self._led:
            found: dict[tuple[int, float | None], dict[int, list[int]]] = {}
            to = self.ahead(n).look
            for place in np.flatnonzero(self.usable & self.twin & (to >= 0))[::-1].tolist():
                key = (int(self.look[place]), float(self.action[place]) if by_action else None)
                several = found.setdefault(key, {}).setdefault(int(to[place]), [])
                if len(several) < _COPIES:
                    several.append(place)
            self._led[n, by_action] = found
        return self._led[n, by_action]

    def ended_within(self, n: int, id: int, action: float | None) -> list[int]:
        """Places of the steps that the row may be and after which the episode ends before n steps are over."""
        at = self._place.get(id, UNKNOWN)
        if at < 0:
            return []
        over = (self.ahead(n).terminated | self.ahead(n).truncated) & (self.ahead(n).length < n)
        if not self.twin[at]:
            return [at] if self.usable[at] and over[at] else []
        key = (n, action is not None)
        if key not in self._ended:
            found = self._ended[key] = {}
            for place in np.flatnonzero(self.usable & self.twin & over)[::-1].tolist():
                own = float(self.action[place]) if action is not None else None
                several = found.setdefault((int(self.look[place]), own), [])
                if len(several) < _COPIES:
                    several.append(place)
        return self._ended[key].get((int(self.look[at]), action), [])

    @cached_property
    def _ended(self) -> dict[tuple[int, bool], dict[tuple[int, float | None], list[int]]]:
        return {}

    @cached_property
    def _led(self) -> dict[tuple[int, bool], dict[tuple[int, float | None], dict[int, list[int]]]]:
        return {}

    @cached_property
    def taken(self) -> dict[tuple[int, int], set[float]]:
        """The actions that were seen to lead from one observation to another."""
        found: dict[tuple[int, int], set[float]] = {}
        for place in np.flatnonzero(self.usable & (self.nxt >= 0)).tolist():
            key = (int(self.look[place]), int(self.look[self.nxt[place]]))
            found.setdefault(key, set()).add(float(self.action[place]))
        return found

    @cached_property
    def _place(self) -> dict[int, int]:
        return {id: place for place, id in enumerate(self.id.tolist())}


@dataclass(frozen=True, eq=False)
class Told:
    """Of each row what all steps that it may be agree on."""

    known: Flags
    rewards: Array  # (rows, n)
    length: Ints
    terminated: Flags
    truncated: Flags
    perhaps: Flags  # a time limit struck some of the steps that it may be
    repeated: Flags  # one action was held all along


@lru_cache(maxsize=4)
def world_of(script: Script) -> World:
    """Empty where observations cannot be told apart: wide ones, of which only range and mean were kept."""
    parts = [each.nodes for each in script.audits]
    parts = [each for each in parts if len(each) and (each.obs_stats.shape[1] > 4 or each.obs.shape[1])]
    while len(parts) > 1 and sum(len(each) for each in parts) > _MOST:
        parts.pop()

    def whole(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(each, name) for each in parts]) if parts else np.empty(0)

    every, acted = whole("id").astype(np.int64), whole("acted").astype(bool)
    # Each node once: the last that knows the step, since in an earlier one it may not have been taken yet.
    order = np.lexsort((np.arange(len(every)), acted, every))
    last = order[np.append(every[order][1:] != every[order][:-1], True)] if len(order) else order
    ids = every[last]

    def column(name: str, kind: Any) -> NDArray[Any]:
        return np.asarray(whole(name)[last], dtype=kind)

    look = _looks(parts)[last]
    actions = [each.action[:, 0] if each.action.shape[1] else np.full(len(each), np.nan) for each in parts]
    action = np.concatenate(actions)[last].astype(np.float64) if parts else np.empty(0)
    _, which, counts = np.unique(look, return_inverse=True, return_counts=True)
    twin = (counts[np.ravel(which)] > 1) | (column("alike", np.int64) != 0)

    def led(name: str) -> Ints:
        to = column(name, np.int64)
        at = np.minimum(np.searchsorted(ids, to), max(len(ids) - 1, 0))
        return np.where(ids[at] == to, at, UNKNOWN) if len(ids) else to

    reward = column("reward", np.float64)
    usable = column("acted", bool) & ~column("phantom", bool) & np.isfinite(reward)
    terminated, truncated = column("terminated", bool), column("truncated", bool)
    return World(ids, look, action, reward, terminated, truncated, usable, twin, led("nxt"), led("succ"), {})


def _looks(parts: Sequence[Nodes]) -> Ints:
    """A number for each different observation. What is no longer remembered is like nothing else."""
    keys: list[Any] = []
    for number, part in enumerate(parts):
        if part.obs_stats.shape[1] > 4:
            prints = part.obs_stats[:, 4].tolist()
            keys += [each if each else ("none", number, place) for place, each in enumerate(prints)]
            continue
        rows = np.concatenate([part.obs_stats, np.asarray(part.obs + np.float32(0), dtype=np.float64)], axis=1)
        known: list[bool] = np.asarray(np.isfinite(part.obs_stats).all(axis=1)).tolist()
        keys += [row.tobytes() if know else ("forgotten", number, place)
                 for place, (row, know) in enumerate(zip(rows, known, strict=True))]  # fmt: skip
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in keys], dtype=np.int64)


def shares(world: World, ids: Ints, index: Array | None, seen: Ints, n: int) -> tuple[float, int]:
    """Of how many rows the n-th step on may lead to what was seen there; and how many could be judged."""
    hits = judged = 0
    for row, id in enumerate(ids.tolist()):
        if seen[row] < 0:
            continue
        whole = world.reached(n, id, None if index is None else float(index[row]))
        if not whole:
            continue
        judged += 1
        hits += int(seen[row]) in whole
    return (hits / judged if judged else 0.0), judged


def told(world: World, ids: Ints, index: Array | None, seen: Ints | None, n: int = 1) -> Told:
    """What the steps that each row may be agree on. seen: what it was bootstrapped from, where that is known."""
    ahead, count = world.ahead(n), len(ids)
    known = np.zeros(count, dtype=bool)
    rewards = np.full((count, n), np.nan)
    length = np.zeros(count, dtype=np.int64)
    terminated, truncated, perhaps, repeated = (np.zeros(count, dtype=bool) for _ in range(4))
    for row, id in enumerate(ids.tolist()):
        action = None if index is None else float(index[row])
        if seen is not None and seen[row] >= 0:
            copies = world.leading(n, id, action).get(int(seen[row]), [])
        else:
            copies = world.copies(id, action)
        copies = [each for each in copies if ahead.look[each] >= 0]
        if not copies:
            continue
        cut = ahead.truncated[copies]
        if cut.any() and not cut.all():
            # A time limit strikes anywhere: most of these steps were no end.
            copies = [each for each in copies if not ahead.truncated[each]]
            perhaps[row] = True
        several = ahead.rewards[copies]
        if (np.ptp(several, axis=0) > 1e-6).any() or len(set(ahead.terminated[copies].tolist())) > 1:
            continue
        if len(set(ahead.length[copies].tolist())) > 1:
            continue
        known[row] = True
        rewards[row], length[row] = ahead.rewards[copies[0]], ahead.length[copies[0]]
        repeated[row] = ahead.repeated[copies[0]]
        terminated[row], truncated[row] = bool(ahead.terminated[copies[0]]), bool(cut.all())
    return Told(known, rewards, length, terminated, truncated, perhaps, repeated)


def impossible(world: World, ids: Ints, index: Array, seen: Ints) -> tuple[int, int, int]:
    """Rows that are no recorded step with this action but one with another; that are a step at all; that are known."""
    taken = world.taken
    odd = judged = known = 0
    for look, action, following in zip(world.looks(ids).tolist(), index.tolist(), seen.tolist(), strict=True):
        if look < 0 or following < 0:
            continue
        known += 1
        actions = taken.get((look, following))
        if not actions:
            continue
        judged += 1
        odd += float(action) not in actions
    return odd, judged, known
