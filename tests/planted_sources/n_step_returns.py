"""Returns of a rollout of several environments, summed backwards in NumPy."""

import numpy as np


class Rollout:
    def __init__(self, length, envs, observation_shape):
        self.observations = np.zeros((length, envs, *observation_shape), dtype=np.float32)
        self.rewards = np.zeros((length, envs), dtype=np.float32)
        self.dones = np.zeros((length, envs), dtype=np.bool_)
        self.actions = np.zeros((length, envs), dtype=np.int)  # planted: name-removed-from-numpy
        # = self.actions = np.zeros((length, envs), dtype=int)
        self.place = 0

    def add(self, observation, action, reward, done):
        self.observations[self.place] = observation
        self.actions[self.place] = action
        self.rewards[self.place] = reward
        self.dones[self.place] = done
        self.place += 1

    @property
    def full(self):
        return self.place == len(self.rewards)

    def returns(self, last_value, discount=0.99):
        total = np.empty_like(self.rewards)
        ahead = last_value
        for step in reversed(range(self.place)):
            ahead = self.rewards[step] + discount * ahead * (1.0 - self.dones[step])
            total[step] = ahead
        return total
