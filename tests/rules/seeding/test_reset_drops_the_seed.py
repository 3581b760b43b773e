import pytest

from rldebug.rules.seeding.reset_drops_the_seed import ResetDropsTheSeed
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        class Repeat(gym.Wrapper):
            def reset(self, **kwargs):
                obs, info = self.env.reset()  # here
                self.count = 0
                return obs, info
        """,
        """
        import gymnasium as gym
        class Noisy(gym.Env):
            def reset(self, seed=None, options=None):  # here
                self.x = self.np_random.normal()
                return self.x, {}
        """,
        """
        import gymnasium as gym
        class Skip(gym.ObservationWrapper):
            def reset(self, *, seed=None, options=None):
                first, info = super().reset(options=options)  # here
                return first, info
        """,
    ],
)
def test_fires_where_it_is_never_read(code):
    points_at(ResetDropsTheSeed(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        class Repeat(gym.Wrapper):
            def reset(self, **kwargs):
                return self.env.reset(**kwargs)
        """,
        """
        import gymnasium as gym
        class Noisy(gym.Env):
            def reset(self, seed=None, options=None):
                super().reset(seed=seed)
                self.x = self.np_random.normal()
                return self.x, {}
        """,
        """
        import gymnasium as gym
        class Plain(gym.Env):
            def reset(self, seed=None, options=None):
                self.x = 0
                return self.x, {}
        """,
        """
        class Buffer:
            def reset(self, seed=None):
                self.env.reset()
        """,
        """
        import gymnasium as gym
        class Life(gym.Wrapper):
            def reset(self, seed=None, options=None):
                if self.over:
                    return self.env.reset(seed=seed, options=options)
                return self.env.step(0)[0], {}
        """,
    ],
)
def test_quiet_where_it_is_passed_on_or_needless(code):
    quiet(ResetDropsTheSeed(), text(code))
