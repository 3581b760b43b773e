"""Q-learning in a table, over observations put into bins: is there anything to learn in a few thousand steps?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from rldebug.probes.agents.constant import some_actions
from rldebug.probes.agents.random import Random, allowed
from rldebug.probes.flat import Flat

_MOST_ACTIONS = 32
_MOST_ELEMENTS = 8  # that vary freely
_MOST_FLAGS = 64  # of which few combinations are met: a grid, one place marked


class Tabular:
    """Learns while it plays: ε falls to 0.05 over `steps`; with `greedy` set, it plays the best it knows.

    `edges` has one row of bin edges per element of the observation; `bins` finds them from observations seen before.
    """

    kind = "tabular"

    def __init__(
        self,
        observation_space: gym.Space[Any],
        action_space: gym.Space[Any],
        *,
        edges: list[np.ndarray[Any, Any]],
        steps: int = 10_000,
        gamma: float = 0.99,
        seed: int = 0,
    ) -> None:
        self.name = "tabular"
        self.flat = Flat(observation_space)
        self.actions = [action for _, action in some_actions(action_space, _MOST_ACTIONS, seed)]
        self.otherwise = Random(action_space, seed)
        self.edges = edges
        self.steps = steps
        self.gamma = gamma
        self.generator = np.random.default_rng(seed)
        self.values: dict[tuple[int, ...], np.ndarray[Any, Any]] = {}
        self.visits: dict[tuple[int, ...], np.ndarray[Any, Any]] = {}
        self.at: tuple[int, ...] = ()
        self.taken = 0
        self.chosen = 0
        self.greedy = False

    def act(self, obs: Any, info: Mapping[str, Any], t: int) -> Any:
        open_ = [place for place, action in enumerate(self.actions) if allowed(action, info)]
        if not open_:
            self.chosen = -1
            return self.otherwise.act(obs, info, t)
        epsilon = 0.0 if self.greedy else max(0.05, 1 - 1.25 * self.taken / self.steps)
        self.at = self._key(obs)  # now: an environment may write into its array again
        known = self.values.get(self.at)
        if known is None or self.generator.random() < epsilon:
            self.chosen = open_[int(self.generator.integers(len(open_)))]
        else:
            best = known[open_]
            ties = np.flatnonzero(best == best.max())  # the first would be a constant action, and hide what is unknown
            self.chosen = open_[int(ties[self.generator.integers(len(ties))])]
        return self.actions[self.chosen]

    def observe(self, obs: Any, action: Any, reward: float, next_obs: Any, terminated: bool) -> None:
        if self.greedy or self.chosen < 0:
            return
        self.taken += 1
        key, following = self.at, self._key(next_obs)
        for each in (key, following):
            if each not in self.values:
                self.values[each] = np.zeros(len(self.actions))
                self.visits[each] = np.zeros(len(self.actions))
        ahead = 0.0 if terminated else float(self.values[following].max())
        self.visits[key][self.chosen] += 1
        rate = max(0.05, self.visits[key][self.chosen] ** -0.6)
        self.values[key][self.chosen] += rate * (reward + self.gamma * ahead - self.values[key][self.chosen])

    def _key(self, obs: Any) -> tuple[int, ...]:
        return tuple(map(int, map(np.searchsorted, self.edges, self.flat.row(obs).tolist())))


def bins(seen: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]] | None:
    """Edges per element, from observations seen (rows of `Flat`); None where a table would be far too large."""
    if seen.ndim != 2 or not len(seen) or not np.isfinite(seen).all():
        return None
    wide = seen.shape[1] > _MOST_ELEMENTS
    if seen.shape[1] > _MOST_FLAGS or (wide and len(np.unique(seen, axis=0)) > len(seen) / 4):
        return None
    count = {1: 24, 2: 14, 3: 9, 4: 7}.get(seen.shape[1], 4)
    edges = []
    for column in seen.T:
        values = np.unique(column)
        few = len(values) <= 32  # a value each: a grid, a flag, a sum of cards
        edges.append(values if few else np.unique(np.quantile(column, np.linspace(0, 1, count + 1)[1:-1])))
    return edges


def can_learn(action_space: gym.Space[Any]) -> str:
    """Why a table of these actions would be too large; empty where it is not."""
    if isinstance(action_space, gym.spaces.Discrete):
        return "" if action_space.n <= _MOST_ACTIONS else f"{action_space.n} actions"
    if isinstance(action_space, gym.spaces.Box):
        size = int(np.prod(action_space.shape))
        return "" if size <= 3 else f"{size} action dimensions"
    return "" if isinstance(action_space, gym.spaces.MultiBinary | gym.spaces.MultiDiscrete) else "its actions"
