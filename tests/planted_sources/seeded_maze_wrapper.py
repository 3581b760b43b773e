"""A wrapper that repeats actions, and Q-learning on fixed evaluation episodes."""

import gymnasium as gym
import numpy as np


class Sticky(gym.Wrapper):
    def __init__(self, env, times):
        super().__init__(env)
        self.times = times
        self.frames = 0

    def reset(self, *, seed=None, options=None):
        self.frames = 0
        return self.env.reset(options=options)  # planted: reset-drops-the-seed
        # = return self.env.reset(seed=seed, options=options)

    def step(self, action):
        total = 0.0
        for _ in range(self.times):
            seen, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            self.frames += 1
            if terminated or truncated:
                break
        return seen, total, terminated, truncated, info


def play(env, table, seed, eps=0.0, rate=0.0, rng=None):
    state, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        explores = rng is not None and rng.random() < eps
        move = int(rng.integers(table.shape[1])) if explores else int(table[state].argmax())
        after, reward, terminated, truncated, _ = env.step(move)
        ahead = 0.0 if terminated else 0.97 * table[after].max()
        table[state, move] += rate * (reward + ahead - table[state, move])
        state, over = after, terminated or truncated
        total += reward
    return total


if __name__ == "__main__":
    world = Sticky(gym.make("CliffWalking-v1"), times=2)
    values = np.zeros((world.observation_space.n, world.action_space.n))
    dice = np.random.default_rng(8)
    for episode in range(5000):
        play(world, values, seed=episode, eps=0.1, rate=0.2, rng=dice)
        if episode % 500 == 0:
            print(np.mean([play(world, values, seed=10_000 + k) for k in range(10)]))
