import pytest

from rldebug.rules.seeding.makers_see_the_last_number import MakersSeeTheLastNumber
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        def make(seed):
            env = gym.make("CartPole-v1")
            env.reset(seed=seed)
            return env
        envs = gym.vector.SyncVectorEnv([lambda: make(7 + i) for i in range(8)])  # here
        """,
        """
        from stable_baselines3.common.vec_env import SubprocVecEnv
        def build(names):
            makers = []
            for rank, name in enumerate(names):
                makers.append(lambda: create(name, rank))  # here
            return SubprocVecEnv(makers)
        """,
        """
        from stable_baselines3.common.vec_env import DummyVecEnv
        def build(n):
            makers = []
            for rank in range(n):
                def start():  # here
                    return create(rank)
                makers.append(start)
            return DummyVecEnv(makers)
        """,
    ],
)
def test_fires_where_the_variable_is_looked_up_later(code):
    points_at(MakersSeeTheLastNumber(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        envs = gym.vector.SyncVectorEnv([lambda i=i: make(i) for i in range(8)])
        """,
        """
        import gymnasium as gym
        envs = gym.vector.SyncVectorEnv([lambda: make(3) for _ in range(8)])
        """,
        """
        import gymnasium as gym
        def make_env(i):
            def thunk():
                return gym.make("CartPole-v1", render_mode=None if i else "human")
            return thunk
        envs = gym.vector.SyncVectorEnv([make_env(i) for i in range(8)])
        """,
        """
        import gymnasium as gym
        rows = [sorted(row, key=lambda x: x + i) for i, row in enumerate(data)]
        """,
        """
        from functools import partial
        import gymnasium as gym
        envs = gym.vector.SyncVectorEnv([partial(make, i) for i in range(8)])
        """,
    ],
)
def test_quiet_where_it_is_kept_or_not_used(code):
    quiet(MakersSeeTheLastNumber(), text(code))
