import pytest

from rldebug.rules.environment.reset_has_other_parts import ResetHasOtherParts
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        import torch
        env = gym.make("CartPole-v1")
        obs = env.reset()  # here
        action = policy(torch.as_tensor(obs))
        """,
        """
        from stable_baselines3.common.vec_env import DummyVecEnv
        def play(model):
            venv = DummyVecEnv([make_one, make_two])
            obs, info = venv.reset()  # here
            return model.predict(obs)
        """,
        """
        import gymnasium as gym
        class Runner:
            def __init__(self):
                self.env = gym.make("Taxi-v3")
            def play(self, agent):
                state = self.env.reset(seed=3)  # here
                while True:
                    move = agent.choose(state)
                    state, reward, terminated, truncated, _ = self.env.step(move)
        """,
    ],
)
def test_fires_on_the_other_form(code):
    points_at(ResetHasOtherParts(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        obs, _ = env.reset()
        act(obs)
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        both = env.reset()
        act(both[0])
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        both = env.reset()
        obs, info = both
        print(len(both))
        """,
        """
        from stable_baselines3.common.vec_env import DummyVecEnv
        venv = DummyVecEnv([make])
        obs = venv.reset()
        act(obs)
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        out = env.reset()
        obs = out[0] if isinstance(out, tuple) else out
        """,
        """
        import gym
        env = gym.make("CartPole-v1")
        obs = env.reset()
        act(obs)
        """,
    ],
)
def test_quiet_on_the_right_form(code):
    quiet(ResetHasOtherParts(), text(code))
