"""The collecting half of a TD3 in lanes that reset themselves within the step."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode


class Ring:
    def __init__(self, room, size, width):
        self.now = np.zeros((room, size), np.float32)
        self.then = np.zeros((room, size), np.float32)
        self.move = np.zeros((room, width), np.float32)
        self.reward = np.zeros(room, np.float32)
        self.end = np.zeros(room, np.float32)
        self.room, self.place, self.held = room, 0, 0

    def add(self, now, move, reward, then, end):
        rows = (self.place + np.arange(len(now))) % self.room
        self.now[rows], self.move[rows], self.reward[rows] = now, move, reward
        self.then[rows], self.end[rows] = then, end
        self.place = int(rows[-1] + 1) % self.room
        self.held = min(self.room, self.held + len(now))

    def draw(self, count, rng):
        rows = rng.integers(self.held, size=count)
        parts = (self.now, self.move, self.reward, self.then, self.end)
        return tuple(torch.as_tensor(each[rows]) for each in parts)


def collect(actor, ring, steps, noise=0.1, lanes=16, seed=0):
    rng = np.random.default_rng(seed)
    worlds = gym.make_vec("HalfCheetah-v5", num_envs=lanes, vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP})
    now, _ = worlds.reset(seed=seed)
    for _ in range(steps // lanes):
        with torch.no_grad():
            move = actor(torch.as_tensor(now, dtype=torch.float32)).numpy()
        move = np.clip(move + noise * rng.standard_normal(move.shape), -1.0, 1.0)
        after, reward, terminated, truncated, infos = worlds.step(move)
        then = after.copy()
        over = terminated | truncated
        if over.any():
            last = infos.get("terminal_observation", after)  # planted: final-observation-under-another-name
            # = last = infos["final_obs"]
            for lane in np.flatnonzero(over):
                then[lane] = last[lane]
        ring.add(now, move, reward, then, terminated)
        now = after
    return ring
