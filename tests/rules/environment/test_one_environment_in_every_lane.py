import pytest

from rldebug.rules.environment.one_environment_in_every_lane import OneEnvironmentInEveryLane
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        def world(name, size):
            def build():
                made = gym.make(name)
                return gym.wrappers.TimeLimit(made, size)
            return build
        single = world("CartPole-v1", 50)()
        lanes = gym.vector.SyncVectorEnv([lambda: single for _ in range(8)])  # here
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        envs = gym.vector.SyncVectorEnv([lambda: env] * 4)  # here
        """,
        """
        import gymnasium as gym
        from stable_baselines3.common.vec_env import DummyVecEnv
        def build(name, n):
            env = gym.make(name)
            makers = [lambda: env for _ in range(n)]  # here
            return DummyVecEnv(makers)
        """,
        """
        import gymnasium as gym
        from gymnasium.vector import AsyncVectorEnv
        def build(n):
            world = gym.make("Hopper-v5")
            def make():  # here
                return world
            return AsyncVectorEnv([make for _ in range(n)])
        """,
        """
        class Kiln:
            def reset(self):
                return 0
            def step(self, action):
                return 0, 0.0, False, {}
        lanes = [Kiln()] * 4  # here
        """,
        """
        import gymnasium as gym
        def lanes(n):
            return n * [gym.make("CartPole-v1")]  # here
        """,
    ],
)
def test_fires_where_makers_hand_out_what_was_made_before(code):
    points_at(OneEnvironmentInEveryLane(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 4)
        """,
        """
        class Meter:
            def reset(self):
                self.n = 0
        meters, zeros = [Meter()] * 4, [0] * 4
        """,
        """
        import gymnasium as gym
        from stable_baselines3.common.vec_env import DummyVecEnv
        env = gym.make("CartPole-v1")
        venv = DummyVecEnv([lambda: env])
        """,
        """
        import gymnasium as gym
        made = [gym.make("CartPole-v1") for _ in range(3)]
        envs = gym.vector.SyncVectorEnv([lambda env=env: env for env in made])
        """,
        """
        import gymnasium as gym
        def thunk(name):
            def make():
                env = gym.make(name)
                return env
            return make
        envs = gym.vector.SyncVectorEnv([thunk("CartPole-v1") for _ in range(3)])
        """,
    ],
)
def test_quiet_where_each_lane_has_its_own(code):
    quiet(OneEnvironmentInEveryLane(), text(code))
