"""Tabular Q-learning on Taxi."""

import gym  # planted: gym-unmaintained

# = import gymnasium as gym
import numpy as np

env = gym.make("Taxi-v3")
table = np.zeros((env.observation_space.n, env.action_space.n))
rng = np.random.default_rng(0)

for episode in range(5000):
    place, _ = env.reset(seed=episode)
    over = False
    while not over:
        greedy = rng.random() > max(0.05, 1 - episode / 2500)
        action = int(table[place].argmax()) if greedy else int(rng.integers(table.shape[1]))
        after, reward, terminated, truncated, _ = env.step(action)
        goal = reward + 0.98 * (0.0 if terminated else table[after].max())
        table[place, action] += 0.2 * (goal - table[place, action])
        place, over = after, terminated or truncated
