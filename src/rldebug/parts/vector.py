"""Environments side by side, whose state can be saved: every episode has a seed of its own, and can be played again.

Environments have no common way to save what they hold (a simulator's memory, a console's), but all promise that
`reset(seed=s)` and the same actions lead to the same place. So a running episode is saved as its seed and its actions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from rldebug.parts.nested import each, equal, put

_REMEMBERED = 100_000  # actions of one episode; a longer one is not played again: the resumed run starts a new one
_GO_ON = None  # in place of an action: a life was lost, and `reset` went on with the game
_BLOCK = 256  # seeds of one environment that are made at once


class Envs(VectorEnv[Any, Any, Any]):
    """`n` environments, stepped one after the other in this process, with same-step autoreset.

    Where an episode ended, the observation that `step` returns is the first of the next one, and the last of the old
    one is in `info["final_obs"]`; `true_next` puts the two together. Arrays returned are new, and not written to later.
    `finished` has whole games: where an environment says `life_lost`, its `reset` goes on with the same one.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - Gymnasium's own way

    def __init__(self, make: Callable[[], gym.Env[Any, Any]], n: int, *, seed: int) -> None:
        self.envs = [make() for _ in range(n)]
        self.num_envs = n
        self.spec = self.envs[0].spec
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self.finished: list[
            tuple[float, int]
        ] = []  # return and length of every episode that ended; the reader empties it
        self._plain = isinstance(self.single_observation_space, gym.spaces.Box)
        self._rows = isinstance(
            self.single_action_space,
            (gym.spaces.Discrete, gym.spaces.MultiDiscrete, gym.spaces.Box, gym.spaces.MultiBinary),
        )
        self._seed = seed
        self._episode = [0] * n
        self._actions: list[list[Any]] = [[] for _ in range(n)]
        self._returns = [0.0] * n
        self._lengths = [0] * n
        self._seeds: list[list[int]] = [[] for _ in range(n)]  # of the episodes of this block, by environment
        self._now: list[Any] = [None] * n

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode in every environment. `seed` starts the sequence of episodes anew."""
        if seed is not None:
            self._seed, self._episode, self._seeds = seed, [0] * self.num_envs, [[] for _ in self.envs]
        for i in range(self.num_envs):
            self._start(i)
        return self._batch(self._now), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        now, rewards, terminations, truncations, ends = self._now, [], [], [], []
        lost: dict[int, bool] = {}  # of those that ended: a life only, and `reset` goes on with the same game
        # A copy, since the actions are kept to be played again, and the caller may reuse the array.
        rows = actions.copy() if self._rows else tuple(iterate(self.action_space, actions))
        for i, env in enumerate(self.envs):
            action = rows[i]
            now[i], reward, terminated, truncated, said = env.step(action)
            rewards.append(reward)
            terminations.append(terminated)
            truncations.append(truncated)
            self._returns[i] += float(said.get("raw_reward", reward))  # the game's, unclipped
            self._lengths[i] += 1
            played = self._actions[i]
            if len(played) <= _REMEMBERED:
                played.append(action)
            if terminated or truncated:
                ends.append(i)
                lost[i] = "life_lost" in said
        info: dict[str, Any] = {}
        if ends:
            final, ended = np.full(self.num_envs, None, dtype=object), np.zeros(self.num_envs, dtype=bool)
            for i in ends:
                final[i], ended[i] = now[i], True
                if lost[i]:
                    self._go_on(i)
                else:
                    self.finished.append((self._returns[i], self._lengths[i]))
                    self._start(i)
            info = {"final_obs": final, "_final_obs": ended}
        reward = np.array(rewards, dtype=np.float64)
        return self._batch(now), reward, np.array(terminations, dtype=bool), np.array(truncations, dtype=bool), info

    def close(self, **_: Any) -> None:
        for env in self.envs:
            env.close()

    def state_dict(self) -> dict[str, Any]:
        return {
            "seed": self._seed,
            "episode": list(self._episode),
            "actions": [[_plain(action) for action in played] if self._rows else None for played in self._actions],
            "returns": list(self._returns),
            "lengths": list(self._lengths),
            "obs": each(lambda array: torch.from_numpy(np.array(array)), self._batch(self._now)),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> tuple[Any, list[str]]:
        """Play the running episodes again. Returns the observations, and, for each that did not lead back, why.

        Those environments start a new episode: a resumed run is then sound, but not bit-exact.
        """
        if len(state["episode"]) != self.num_envs:
            raise ValueError(f"the state is of {len(state['episode'])} environments, there are {self.num_envs}")
        self._seed, self._seeds, problems = state["seed"], [[] for _ in self.envs], []
        space = self.single_action_space
        before = list(iterate(self.observation_space, each(lambda tensor: tensor.numpy(), state["obs"])))
        for i, env in enumerate(self.envs):
            self._episode[i] = state["episode"][i] - 1
            actions = state["actions"][i]
            self._start(i)
            if actions is None or len(actions) > _REMEMBERED:
                problems.append(f"environment {i}: its episode was not remembered")
                continue
            over = False
            for action in actions:
                if action is _GO_ON:
                    self._go_on(i)
                    over = False
                elif not over:
                    kept = np.asarray(action, dtype=space.dtype)[()]
                    self._now[i], _, terminated, truncated, _ = env.step(kept)
                    self._actions[i].append(kept)
                    over = bool(terminated or truncated)
            if over or not equal(self._now[i], before[i]):
                problems.append(f"environment {i}: the same seed and actions led elsewhere; it is not deterministic")
                self._start(i)
                continue
            self._returns[i], self._lengths[i] = state["returns"][i], state["lengths"][i]
        return self._batch(self._now), problems

    def _start(self, i: int) -> None:
        block, at = divmod(self._episode[i], _BLOCK)
        if at == 0 or not self._seeds[i]:  # many at once: making them costs more than a step of a small environment
            sequence = np.random.SeedSequence(self._seed, spawn_key=(i, block))
            self._seeds[i] = (sequence.generate_state(_BLOCK) & 0x7FFFFFFF).tolist()
        self._now[i], _ = self.envs[i].reset(seed=self._seeds[i][at])
        self._episode[i] += 1
        self._actions[i] = []
        self._returns[i], self._lengths[i] = 0.0, 0

    def _go_on(self, i: int) -> None:
        self._now[i], _ = self.envs[i].reset()
        self._actions[i].append(_GO_ON)

    def _batch(self, rows: list[Any]) -> Any:
        space = self.single_observation_space
        if self._plain:
            batch = np.empty((len(rows), *space.shape), dtype=space.dtype)  # type: ignore[misc]
            for i, row in enumerate(rows):
                batch[i] = row
            return batch
        empty: Any = create_empty_array(space, len(rows))
        return concatenate(space, rows, empty)


def true_next(obs: Any, info: Mapping[str, Any]) -> Any:
    """The observations that the actions led to: `obs`, but at an ending the last one of the old episode."""
    if "final_obs" not in info:
        return obs
    obs = each(np.copy, obs)
    for i in np.flatnonzero(info["_final_obs"]):
        put(obs, int(i), info["final_obs"][i])
    return obs


def _plain(action: Any) -> Any:
    return action if action is _GO_ON else action.tolist()
