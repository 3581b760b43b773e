"""A learner without a network, obviously right, and what may be wrong with it: the ladder's own test subject.

It keeps a table of action values by observation, and learns them one step at a time (Q-learning), or, for values, by
TD(0). `wrong` names a mistake to make.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from gymnasium.vector import AutoresetMode


class Tabular:
    """On one environment at a time."""

    def __init__(self, make_env, *, gamma=0.9, wrong="", epsilon=0.3, lr=0.1, seed=0):
        self.gamma, self.n_step, self.wrong, self.epsilon, self.lr = gamma, 1, wrong, epsilon, lr
        self.env = make_env()
        self.actions = int(self.env.action_space.n)
        self.rng = np.random.default_rng(seed)
        self.table = defaultdict(lambda: np.zeros(self.actions))
        self.obs = self.key(self.env.reset(seed=seed)[0])

    def key(self, obs):
        return "blind" if self.wrong == "blind" else np.asarray(obs).tobytes()

    def learn(self, steps):
        for _ in range(steps):
            row = self.table[self.obs]
            best = int(row.argmin() if self.wrong == "worst" else row.argmax())
            action = int(self.rng.integers(self.actions)) if self.rng.random() < self.epsilon else best
            seen, reward, terminated, truncated, _ = self.env.step(action)
            after = self.key(seen)
            ahead = self.table[after].mean() if self.wrong == "mean" else self.table[after].max()
            stop = terminated or (truncated and self.wrong == "truncation")
            if stop and self.wrong != "ends":
                ahead = 0.0
            discount = 1.0 if self.wrong == "undiscounted" else self.gamma
            if self.wrong != "frozen":
                row[action] += self.lr * (reward + discount * ahead - row[action])
            self.obs = self.key(self.env.reset()[0]) if terminated or truncated else after

    def q(self, obs):
        return np.stack([self.table[self.key(each)] for each in obs])


class TabularVector:
    """Values by TD(0), in several environments at once, in whatever way they restart."""

    abilities = frozenset({"vector"})

    def __init__(self, make_env, *, gamma=0.9, wrong="", n=3, lr=0.05):
        self.gamma, self.n_step, self.wrong, self.lr = gamma, 1, wrong, lr
        self.envs = make_env.vector(n)
        self.mode = self.envs.metadata["autoreset_mode"]
        self.table = defaultdict(float)
        self.obs, _ = self.envs.reset(seed=0)
        self.over = np.zeros(n, dtype=bool)

    def learn(self, steps):
        for _ in range(steps // self.envs.num_envs + 1):
            after, reward, terminated, truncated, info = self.envs.step(self.envs.action_space.sample())
            led_to, over = after.copy(), terminated | truncated
            if self.mode is AutoresetMode.DISABLED and over.any():
                first, _ = self.envs.reset(options={"reset_mask": over})
                after = np.where(over[:, None], first, after)
                if self.wrong == "reset-obs":
                    led_to = after.copy()
            if self.mode is AutoresetMode.SAME_STEP and "final_obs" in info and self.wrong != "reset-obs":
                for i in np.flatnonzero(info["_final_obs"]):
                    led_to[i] = info["final_obs"][i]
            for i in range(self.envs.num_envs):
                if self.mode is AutoresetMode.NEXT_STEP and self.over[i] and self.wrong != "extra-step":
                    continue  # this step only restarted it: nothing was decided, nothing paid
                ahead = 0.0 if terminated[i] else self.table[led_to[i].tobytes()]
                key = self.obs[i].tobytes()
                self.table[key] += self.lr * (reward[i] + self.gamma * ahead - self.table[key])
            self.over, self.obs = over, after

    def value(self, obs):
        return np.array([self.table[each.tobytes()] for each in obs])
