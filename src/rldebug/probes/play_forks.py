"""The same seed, other actions: what an action changes, seen by playing an episode again and parting from it.

Exact where the environment repeats itself under a seed, which is checked first: no statistics, no model.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from rldebug.evidence.env_play import Effects, Twins
from rldebug.probes.agents.constant import bounds, some_actions
from rldebug.probes.agents.random import Random, allowed
from rldebug.probes.flat import Flat, Row

Choose = Callable[[Mapping[str, Any], int], Any]  # info, t -> action

_PAIRS = 12
_TRIES = 120
_BEFORE = 24  # steps before a fork, at most
_AFTER = 8  # steps after it, with the same actions in every branch
_MOST_TRIED = 12  # discrete actions, or dimensions


@dataclass(frozen=True)
class _Trace:
    actions: tuple[Any, ...]
    seen: tuple[bytes, ...]  # digests of the observations, from reset on
    rows: tuple[Row, ...]
    rewards: tuple[float, ...]
    ends: tuple[tuple[bool, bool], ...]


def twins(
    env: gym.Env[Any, Any], flat: Flat, *, seconds: float, step_seconds: float, seed: int
) -> tuple[Twins, Row | None]:
    """Besides: which elements of the observation never depended on the action; None where that is not known."""
    until = time.perf_counter() + seconds
    most = int(np.clip(seconds / (3 * _PAIRS * max(step_seconds, 1e-6)), 50, 1000))
    pairs = steps = obs = rewards = ends = ended = 0
    repeatable, vary = True, False
    untouched: Row | None = None
    for number in range(_PAIRS):
        if time.perf_counter() > until:
            break
        first, again, other = (Random(env.action_space, seed + 2 * number + (place == 2)) for place in range(3))
        one, two = (_trace(env, flat, seed + number, _drawn(who), most) for who in (first, again))
        if (one.seen, one.ends) != (two.seen, two.ends) or not _equal(one.rewards, two.rewards):
            repeatable = False
            break

        def differ(info: Mapping[str, Any], t: int, beside: _Trace = one, who: Random = other) -> Any:
            return _another(who, info, beside.actions[t] if t < len(beside.actions) else None)

        three = _trace(env, flat, seed + number, differ, most)
        common = min(len(one.rewards), len(three.rewards))
        pairs, steps = pairs + 1, steps + common
        obs += one.seen[: common + 1] != three.seen[: common + 1]
        rewards += not _equal(one.rewards[:common], three.rewards[:common])
        ends += one.ends != three.ends
        ended += bool(one.ends and any(one.ends[-1]))
        vary |= len(set(one.rewards)) > 1
        if one.rows:
            same = np.all(np.array(one.rows[1 : common + 1]) == np.array(three.rows[1 : common + 1]), axis=0)
            untouched = same if untouched is None else untouched & same
    return Twins(pairs, steps, ended, repeatable, obs, rewards, ends, vary), untouched


def effects(env: gym.Env[Any, Any], flat: Flat, *, seconds: float, seed: int) -> Effects:
    """Discrete actions and single dimensions of a Box; others are not tried."""
    space = env.action_space
    if isinstance(space, gym.spaces.Discrete):
        names, branches = _of_discrete(space)
    elif isinstance(space, gym.spaces.Box):
        names, branches = _of_box(space)
    else:
        return Effects()
    until = time.perf_counter() + seconds
    generator = np.random.default_rng(seed)
    tries = np.zeros(len(names), int)
    # together[i, j]: the branches i and j had the same consequences in every try; row 0 of a Box is the unchanged one
    together = np.ones((len(branches), len(branches)), bool)
    done = 0
    while done < _TRIES and time.perf_counter() < until:
        before = int(generator.integers(_BEFORE + 1))
        start = seed + int(generator.integers(10_000))
        found = _branches(env, flat, branches, start, before)
        if found is None:
            continue
        done += 1
        marks = [found.get(place) for place in range(len(branches))]
        for i, one in enumerate(marks):
            for j, other in enumerate(marks):
                if one is not None and other is not None and one != other:
                    together[i, j] = False
        tries += np.array([each is not None for each in marks[-len(names) :]])
    least = int(tries.min()) if done else 0  # of an action that a mask mostly forbids too little is known
    if isinstance(space, gym.spaces.Box):
        idle = tuple(name for place, name in enumerate(names, start=1) if together[0, place])
        return Effects(least, tuple(names), idle=idle)
    groups = {tuple(name for name, alike in zip(names, row, strict=True) if alike) for row in together}
    return Effects(least, tuple(names), same=tuple(sorted(each for each in groups if len(each) > 1)))


Branch = Callable[[Any], Any]  # from the action drawn to the one taken


def _of_discrete(space: gym.spaces.Discrete) -> tuple[list[str], list[Branch]]:
    tried = some_actions(space, _MOST_TRIED)

    def always(action: Any) -> Branch:
        return lambda drawn: action

    return [name for name, _ in tried], [always(action) for _, action in tried]


def _of_box(space: gym.spaces.Box) -> tuple[list[str], list[Branch]]:
    low, high = bounds(space)
    size = int(low.size)
    places = list(np.ndindex(*low.shape))[:_MOST_TRIED] if size else []

    def at(place: tuple[int, ...]) -> Branch:
        def moved(drawn: Any) -> Any:
            action = np.array(drawn, copy=True)
            middle = low[place] / 2 + high[place] / 2
            action[place] = high[place] if drawn[place] < middle else low[place]
            return action

        return moved

    names = [f"action[{', '.join(map(str, place))}]" if place else "action" for place in places]
    return names, [lambda drawn: drawn, *(at(place) for place in places)]


def _branches(
    env: gym.Env[Any, Any], flat: Flat, branches: list[Branch], seed: int, before: int
) -> dict[int, tuple[Any, ...]] | None:
    """Consequences by branch; None where the episode ended before the fork."""
    found: dict[int, tuple[Any, ...]] = {}
    for place, branch in enumerate(branches):
        draws = Random(env.action_space, seed)
        forbidden = False

        def choose(info: Mapping[str, Any], t: int, who: Random = draws, taken: Branch = branch) -> Any:
            nonlocal forbidden
            drawn = who.act(None, info, t)
            if t != before:
                return drawn
            action = taken(drawn)
            forbidden = not allowed(action, info)
            return drawn if forbidden else action

        trace = _trace(env, flat, seed, choose, before + 1 + _AFTER, rows=False)
        if len(trace.rewards) <= before:
            return None
        if not forbidden:
            rewards = np.array(trace.rewards[before:]).tobytes()
            found[place] = (trace.seen[before + 1 :], rewards, trace.ends[before:])
    return found


def _trace(env: gym.Env[Any, Any], flat: Flat, seed: int, choose: Choose, most: int, rows: bool = True) -> _Trace:
    random.seed(seed)  # an environment that draws from the global generators must repeat itself too
    np.random.seed(seed % 2**32)
    obs, info = env.reset(seed=seed)
    keep = rows and flat.kept is None
    actions, seen, kept, rewards, ends = [], [flat.digest(obs)], [flat.row(obs)] if keep else [], [], []
    for t in range(most):
        action = choose(info, t)
        actions.append(action)
        obs, reward, terminated, truncated, info = env.step(action)
        seen.append(flat.digest(obs))
        if keep:
            kept.append(flat.row(obs))
        rewards.append(float(reward))
        ends.append((bool(terminated), bool(truncated)))
        if terminated or truncated:
            break
    return _Trace(tuple(actions), tuple(seen), tuple(kept), tuple(rewards), tuple(ends))


def _drawn(who: Random) -> Choose:
    return lambda info, t: who.act(None, info, t)


def _another(who: Random, info: Mapping[str, Any], taken: Any) -> Any:
    """A draw that differs from what was taken in the other episode."""
    action = who.act(None, info, 0)
    for _ in range(20):
        if taken is None or not _same(action, taken):
            break
        action = who.act(None, info, 0)
    return action


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(np.array_equal(one, other))
    except (TypeError, ValueError):  # dicts and ragged tuples
        return bool(repr(one) == repr(other))


def _equal(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return np.array_equal(np.array(one), np.array(other), equal_nan=True)
