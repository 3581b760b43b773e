import pytest

from rldebug.rules.environment.time_limit_cut_off import TimeLimitCutOff
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        env = gym.make("Pendulum-v1").env  # here
        obs, _ = env.reset()
        done = False
        while not done:
            obs, reward, terminated, truncated, _ = env.step(act(obs))
            done = terminated or truncated
        """,
        """
        import gymnasium as gym
        class Scaled(gym.Wrapper):
            def __init__(self, env, scale):
                super().__init__(env)
                self.scale = scale
        def make(name):
            env = gym.make(name)
            return Scaled(env.unwrapped, 0.1)  # here
        """,
    ],
)
def test_fires_where_the_inner_one_is_used(code):
    points_at(TimeLimitCutOff(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        env = gym.make("Pendulum-v1")
        length = env.unwrapped.length
        """,
        """
        import gymnasium as gym
        env = gym.make("Pendulum-v1").unwrapped
        for episode in range(100):
            obs, _ = env.reset()
            for t in range(200):
                obs, reward, terminated, truncated, _ = env.step(act(obs))
        """,
        """
        import gymnasium as gym
        from gymnasium.wrappers import TimeLimit
        env = TimeLimit(gym.make("Pendulum-v1").env, 400)
        """,
        """
        import gymnasium as gym
        env = gym.make("Pendulum-v1")
        raw = env.unwrapped
        print(raw.g)
        """,
    ],
)
def test_quiet_where_it_is_only_read_or_limited(code):
    quiet(TimeLimitCutOff(), text(code))
