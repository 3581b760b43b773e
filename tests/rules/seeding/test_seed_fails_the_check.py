import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from rldebug.rules.seeding.seed_fails_the_check import SeedFailsTheCheck
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class World(gym.Env):
    def __init__(self, own):
        self.observation_space = spaces.Box(-1, 1, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.own = own

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        drawn = self.np_random.random(2) if self.own else np.random.random(2)
        return drawn.astype(np.float32), 0.0, False, False, {}


def test_fires_when_it_draws_from_the_generator_of_all():
    crash = crashed(lambda: check_env(World(own=False), skip_render_check=True))
    assert "np.random.random at test_seed_fails_the_check.py" in names(SeedFailsTheCheck(), crash).help


def test_quiet_when_it_draws_from_its_own():
    def program():
        check_env(World(own=True), skip_render_check=True)
        raise ValueError("checked")

    quiet(SeedFailsTheCheck(), crashed(program))
