import pytest

from rldebug.rules.seeding.seed_method_gone import SeedMethodGone
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        env.seed(0)  # here
        """,
        """
        import gymnasium
        class Agent:
            def __init__(self, name, seed):
                self.world = gymnasium.make(name)
                self.world.seed(seed)  # here
        """,
    ],
)
def test_fires_on_environments_of_gymnasium(code):
    points_at(SeedMethodGone(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gym
        env = gym.make("CartPole-v1")
        env.seed(0)
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        env.action_space.seed(0)
        env.reset(seed=0)
        """,
        """
        from stable_baselines3.common.env_util import make_vec_env
        venv = make_vec_env("CartPole-v1")
        venv.seed(0)
        """,
        """
        import gymnasium as gym
        class Seeded(gym.Wrapper):
            def seed(self, number):
                self.env.reset(seed=number)
        env = Seeded(gym.make("CartPole-v1"))
        env.seed(0)
        """,
    ],
)
def test_quiet_on_others(code):
    quiet(SeedMethodGone(), text(code))
