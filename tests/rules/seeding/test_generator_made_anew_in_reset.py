import pytest

from rldebug.rules.seeding.generator_made_anew_in_reset import GeneratorMadeAnewInReset
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import numpy as np
        class Lift:
            def __init__(self, seed):
                self.seed = seed
            def reset(self):
                self.rng = np.random.default_rng(self.seed)  # here
                return self.rng.random(3)
            def step(self, action):
                return self.rng.random(3), 0.0, False, {}
        """,
        """
        import gymnasium as gym
        class Tank(gym.Env):
            def reset(self, seed=None, options=None):
                super().reset(seed=42)  # here
                return self.np_random.random(3), {}
            def step(self, action):
                return self.np_random.random(3), 0.0, False, False, {}
        """,
        """
        import random
        def make(seed):
            draw = random.Random(seed)
            def reset():
                draw.seed(seed)  # here
                return draw.random()
            def step(action):
                return draw.random(), 1.0, False
            return reset, step
        """,
    ],
)
def test_fires_where_every_episode_gets_the_same_seed(code):
    points_at(GeneratorMadeAnewInReset(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import numpy as np
        class Lift:
            def reset(self, seed=None):
                if seed is not None:
                    self.rng = np.random.default_rng(seed)
                return self.rng.random(3)
            def step(self, action):
                return self.rng.random(3), 0.0, False, {}
        """,
        """
        import numpy as np
        class Lift:
            def __init__(self, seed):
                self.seed = seed
            def reset(self):
                self.seed += 1
                self.rng = np.random.default_rng(self.seed)
                return self.rng.random(3)
            def step(self, action):
                return self.rng.random(3), 0.0, False, {}
        """,
        """
        import numpy as np
        class Lift:
            def reset(self):
                self.rng = np.random.default_rng()
                return self.rng.random(3)
            def step(self, action):
                return self.rng.random(3), 0.0, False, {}
        """,
        """
        class Lift:
            def __init__(self, number):
                self.number = number
            def reset(self):
                self.action_space.seed(self.number)
                return 0
            def step(self, action):
                return 0, 0.0, False, {}
        """,
        """
        import numpy as np
        class Sampler:
            def reset(self):
                self.rng = np.random.default_rng(0)
        """,
        """
        import numpy as np
        class Lift:
            def __init__(self, seed):
                self.seed = seed
            def reset(self):
                self.rng = np.random.default_rng(self.seed)
                return self.rng.random(3)
            def step(self, action):
                return self.rng.random(3), 0.0, False, {}
        env = Lift(0)
        for i in range(3):
            env.seed = i
            env.reset()
        """,
    ],
)
def test_quiet_where_seeds_change_or_are_given(code):
    quiet(GeneratorMadeAnewInReset(), text(code))
