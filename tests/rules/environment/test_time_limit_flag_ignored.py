import pytest

from rldebug.rules.environment.time_limit_flag_ignored import TimeLimitFlagIgnored
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        obs, _ = env.reset()
        done = False
        while not done:
            obs, reward, done, _, _ = env.step(act(obs))  # here
        """,
        """
        import gymnasium as gym
        def collect(n):
            env = gym.make("Hopper-v5")
            obs, _ = env.reset()
            for t in range(n):
                obs, reward, terminated, truncated, info = env.step(act(obs))  # here
                if terminated:
                    obs, _ = env.reset()
        """,
    ],
)
def test_fires_where_nobody_reads_it(code):
    points_at(TimeLimitFlagIgnored(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        done = False
        while not done:
            obs, reward, terminated, truncated, _ = env.step(0)
            done = terminated or truncated
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        for t in range(500):
            obs, reward, terminated, _, _ = env.step(0)
            if terminated:
                break
        """,
        """
        import gymnasium as gym
        class World(gym.Env):
            pass
        env = World()
        done = False
        while not done:
            obs, reward, done, _, _ = env.step(0)
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        for episode in range(9):
            env.reset()
            while True:
                obs, reward, terminated, cut, _ = env.step(0)
                if terminated | cut:
                    break
        """,
        """
        import gymnasium as gym
        envs = gym.make_vec("CartPole-v1", num_envs=3)
        for t in range(100):
            obs, reward, terminated, _, _ = envs.step(envs.action_space.sample())
            if terminated.all():
                print("all")
        """,
    ],
)
def test_quiet_where_it_is_read_or_cannot_matter(code):
    quiet(TimeLimitFlagIgnored(), text(code))
