"""A pendulum from which the wrapper that is put on takes the time limit off."""

from __future__ import annotations

import gymnasium as gym

EXPECT = "ENV028"


class Halved(gym.RewardWrapper):
    def reward(self, reward):
        return 0.5 * reward


def make():
    return Halved(gym.make("Pendulum-v1").env)


def sound():
    return Halved(gym.make("Pendulum-v1"))
