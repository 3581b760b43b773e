"""A small agent that is not ours: linear Q-learning in numpy, with a memory, masks and vectors of environments.

Every known mistake is a switch; without one it is sound, and passes what it takes: flat observations, choices.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from rldebug.probes.agent import Factory, Learner, Target

Floats = NDArray[np.float64]
ABILITY = {"memory": "memory", "masks": "masks", "vectors": "vector"}
ENVS, EPSILON, STEP = 3, 0.1, 0.05


def target(kind: str, switch: str | None) -> Target:
    """`kind`: what it can do beyond the usual; `switch`: the mistake it makes, None for none."""
    return Target(
        f"{kind} agent", lambda factory, seed, wants: _make(factory, seed, wants, switch), frozenset({ABILITY[kind]})
    )


def _make(factory: Factory, seed: int, wants: frozenset[str], switch: str | None) -> Learner:
    space, actions = factory.sample.observation_space, factory.sample.action_space
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1 or not isinstance(actions, gym.spaces.Discrete):
        raise ValueError(f"takes a flat Box and Discrete actions, not {space} and {actions}")
    kind = OnVector if "vector" in wants else Agent
    agent = kind(factory, seed, memory="memory" in wants, switch=switch)
    return Learner(learn=agent.learn, q=agent.q, declared={"gamma": Agent.gamma, "n_step": 1})


class Agent:
    """One environment after the other, each reset by hand."""

    gamma = 0.9

    def __init__(self, factory: Factory, seed: int, *, memory: bool, switch: str | None) -> None:
        self.factory, self.memory, self.switch = factory, memory, switch
        self.rng = np.random.default_rng(seed)
        self.size = int(np.prod(factory.sample.observation_space.shape or ()))
        self.actions = int(factory.probe.actions)
        # Optimistic at first: what was never tried looks good, so that all of it is tried.
        self.weights = np.ones((self.actions, self.size * (2 if memory else 1)))
        if memory:
            self.weights[:, self.size :] = 0.0
        if switch == "hardly explores":
            self.weights[:] = 0.0
        self.rows: dict[bytes, Floats] = {}  # for who keeps a table of observations instead
        self.begin()

    def begin(self) -> None:
        self.envs = [self.factory() for _ in range(ENVS)]
        self.seen = [np.zeros(self.size) for _ in self.envs]
        self.features = [self._start(i, seed=int(self.rng.integers(2**31))) for i in range(ENVS)]
        self.late = [env.action_masks() for env in self.envs]

    def learn(self, steps: int) -> None:
        for _ in range(-(-steps // ENVS)):
            for i, env in enumerate(self.envs):
                now = self.features[i]
                action = self._act(now, self._mask(i))
                obs, reward, terminated, truncated, _ = env.step(action)
                after = self._remember(i, obs)
                self._fit(now, action, float(reward), after, terminated)
                self.features[i] = self._start(i) if terminated or truncated else after

    def q(self, obs: Any) -> Floats:
        flat = np.asarray(obs, dtype=float)
        if self.switch == "a row for every observation":
            return np.array([self._values(row) for row in flat])
        return np.asarray(flat @ self.weights[:, : self.size].T)

    def _values(self, features: Floats) -> Floats:
        if self.switch == "a row for every observation":
            return self.rows.get(features.tobytes(), np.ones(self.actions))
        return np.asarray(self.weights @ features)

    def _start(self, i: int, seed: int | None = None) -> Floats:
        obs, _ = self.envs[i].reset(seed=seed)
        if self.switch != "kept over the end":
            self.seen[i] = np.zeros(self.size)
        return self._remember(i, obs)

    def _remember(self, i: int, obs: Any) -> Floats:
        """The observation, and beside it all that was seen in this episode."""
        flat = np.asarray(obs, dtype=float)
        if not self.memory:
            return flat
        self.seen[i] = flat if self.switch == "lost at every step" else np.maximum(self.seen[i], flat)
        return np.concatenate([flat, self.seen[i]])

    def _mask(self, i: int) -> NDArray[np.bool_]:
        now: NDArray[np.bool_] = self.envs[i].action_masks()
        late: NDArray[np.bool_] = self.late[i]
        self.late[i] = now
        if self.switch == "mask of the step before":
            return late
        return ~now if self.switch == "mask inverted" and not now.all() else now

    def _act(self, features: Floats, allowed: NDArray[np.bool_]) -> int:
        if self.rng.random() < EPSILON:
            return int(self.rng.choice(np.flatnonzero(allowed)))
        return int(np.where(allowed, self._values(features), -np.inf).argmax())

    def _fit(self, now: Floats, action: int, reward: float, after: Floats, terminated: bool) -> None:
        ahead = 0.0 if terminated else self.gamma * float(self._values(after).max())
        error = reward + ahead - float(self._values(now)[action])
        if self.switch == "a row for every observation":
            self.rows.setdefault(now.tobytes(), np.ones(self.actions))[action] += STEP * error
        else:
            self.weights[action] += STEP * error * now


class OnVector(Agent):
    """Environments side by side, as `make_env.vector` makes them, in whatever autoreset mode."""

    def begin(self) -> None:
        self.vector = self.factory.vector(ENVS)
        self.mode = self.vector.metadata["autoreset_mode"]
        self.obs, _ = self.vector.reset(seed=int(self.rng.integers(2**31)))
        self.ended = np.zeros(ENVS, dtype=bool)

    def learn(self, steps: int) -> None:
        all_ = np.ones(self.actions, dtype=bool)
        for _ in range(-(-steps // ENVS)):
            if self.mode == AutoresetMode.DISABLED and self.ended.any():
                self.obs, _ = self.vector.reset(options={"reset_mask": self.ended})
                self.ended[:] = False
            now = np.asarray(self.obs, dtype=float).copy()
            actions = np.array([self._act(row, all_) for row in now])
            obs, rewards, terminated, truncated, info = self.vector.step(actions)
            self.obs = obs
            ended = terminated | truncated
            after = np.asarray(obs, dtype=float).copy()
            if self.mode == AutoresetMode.SAME_STEP and self.switch != "first of the next":
                for i in np.flatnonzero(ended):
                    after[i] = info["final_obs"][i]
            if self.mode == AutoresetMode.DISABLED and self.switch == "reset before learning" and ended.any():
                self.obs, _ = self.vector.reset(options={"reset_mask": ended})
                after, self.ended = np.asarray(self.obs, dtype=float).copy(), np.zeros(ENVS, dtype=bool)
                ended = np.zeros(ENVS, dtype=bool)
            for row in range(ENVS):
                # In this mode the step after an end only restarts: its action was ignored, and its reward is 0.
                if self.mode == AutoresetMode.NEXT_STEP and self.ended[row] and self.switch != "restart learned from":
                    continue
                self._fit(now[row], int(actions[row]), float(rewards[row]), after[row], bool(terminated[row]))
            self.ended = ended
