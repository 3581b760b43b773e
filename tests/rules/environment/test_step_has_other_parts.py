import pytest

from rldebug.rules.environment.step_has_other_parts import StepHasOtherParts
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        obs, reward, done, info = env.step(0)  # here
        """,
        """
        from stable_baselines3.common.env_util import make_vec_env
        class Runner:
            def __init__(self):
                self.venv = make_vec_env("CartPole-v1", n_envs=2)
            def play(self, action):
                o, r, terminated, truncated, info = self.venv.step(action)  # here
        """,
        """
        import gymnasium as gym
        def make(name):
            return gym.wrappers.RecordEpisodeStatistics(gym.make(name))
        def main():
            world = make("Hopper-v5")
            after, reward, over, _ = world.step(world.action_space.sample())  # here
        """,
    ],
)
def test_fires_on_the_other_form(code):
    points_at(StepHasOtherParts(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gym
        env = gym.make("CartPole-v1")
        obs, reward, done, info = env.step(0)
        """,
        """
        import gymnasium as gym
        class Old(gym.Wrapper):
            def step(self, action):
                o, r, t, u, i = self.env.step(action)
                return o, r, t or u, i
        env = Old(gym.make("CartPole-v1"))
        obs, reward, done, info = env.step(0)
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        obs, reward, terminated, truncated, info = env.step(0)
        """,
        """
        def f(env):
            obs, reward, done, info = env.step(0)
        """,
    ],
)
def test_quiet_on_the_right_form_and_what_is_not_known(code):
    quiet(StepHasOtherParts(), text(code))
