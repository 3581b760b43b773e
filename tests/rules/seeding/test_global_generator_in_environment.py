import pytest

from rldebug.rules.seeding.global_generator_in_environment import GlobalGeneratorInEnvironment
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        import numpy as np
        class Grid(gym.Env):
            def reset(self, seed=None, options=None):
                super().reset(seed=seed)
                self.at = np.random.randint(0, 5, size=2)  # here
                return self.at, {}
        """,
        """
        from random import random
        from gymnasium import ActionWrapper
        class Slip(ActionWrapper):
            def action(self, action):
                return self.last if random() < 0.25 else action  # here
        """,
    ],
)
def test_fires_in_environments_and_wrappers(code):
    points_at(GlobalGeneratorInEnvironment(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        class Grid(gym.Env):
            def reset(self, seed=None, options=None):
                super().reset(seed=seed)
                return self.np_random.integers(0, 5, size=2), {}
        """,
        """
        import gymnasium as gym
        import numpy as np
        class Grid(gym.Env):
            def __init__(self, seed):
                self.rng = np.random.default_rng(seed)
                self.other = np.random.RandomState(seed)
        """,
        """
        import numpy as np
        class Agent:
            def act(self):
                return np.random.randint(4)
        """,
    ],
)
def test_quiet_elsewhere(code):
    quiet(GlobalGeneratorInEnvironment(), text(code))
