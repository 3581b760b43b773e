import gymnasium as gym
import numpy as np

from rldebug.rules.environment.attribute_not_given import AttributeNotGiven
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Grid(gym.Env):
    def __init__(self):
        self.observation_space, self.action_space = gym.spaces.Box(0, 1, (2,)), gym.spaces.Discrete(2)
        self.length = 5

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.place = min(self.place + action, self.lenght)
        return np.zeros(2, np.float32), 0.0, False, False, {}


def test_fires_when_a_name_is_spelt_differently():
    def program():
        env = Grid()
        env.reset()
        env.step(1)

    assert "self.length" in names(AttributeNotGiven(), crashed(program)).help


def test_quiet_when_reset_would_set_it():
    quiet(AttributeNotGiven(), crashed(lambda: Grid().step(1)))
