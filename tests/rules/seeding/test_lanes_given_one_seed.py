import pytest

from rldebug.rules.seeding.lanes_given_one_seed import LanesGivenOneSeed
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        lanes = gym.make_vec("CartPole-v1", num_envs=4)
        seen, _ = lanes.reset(seed=[start] * 4)  # here
        """,
        """
        import gymnasium as gym
        lanes = gym.vector.SyncVectorEnv(makers)
        seeds = [conf.start for _ in range(8)]
        seen, _ = lanes.reset(seed=seeds)  # here
        """,
        """
        import gymnasium as gym
        def make_env(name, seed):
            def thunk():
                env = gym.make(name)
                env.reset(seed=seed)
                return env
            return thunk
        envs = gym.vector.SyncVectorEnv([make_env("CartPole-v1", 1) for i in range(8)])  # here
        """,
        """
        import gymnasium as gym
        from stable_baselines3.common.vec_env import SubprocVecEnv
        def build(seed):
            env = gym.make("Hopper-v5")
            env.reset(seed=seed)
            env.action_space.seed(seed)
            return env
        def main(args):
            return SubprocVecEnv([lambda: build(args.seed)] * args.lanes)  # here
        """,
    ],
)
def test_fires_where_the_number_of_the_lane_is_missing(code):
    points_at(LanesGivenOneSeed(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        lanes = gym.make_vec("CartPole-v1", num_envs=4)
        lanes.reset(seed=start)
        lanes.reset(seed=[start + k for k in range(4)])
        lanes.reset(seed=[rng.integers(99) for _ in range(4)])
        lanes.reset(seed=[None] * 4)
        lanes.reset(seed=[start] * 1)
        """,
        """
        import gymnasium as gym
        def make_env(seed):
            def thunk():
                env = gym.make("CartPole-v1")
                env.reset(seed=seed)
                return env
            return thunk
        envs = gym.vector.SyncVectorEnv([make_env(1 + i) for i in range(8)])
        """,
        """
        import gymnasium as gym
        def make_env(seed):
            def thunk():
                env = gym.make("CartPole-v1")
                env.action_space.seed(seed)
                return env
            return thunk
        envs = gym.vector.SyncVectorEnv([make_env(1) for i in range(8)])
        obs, _ = envs.reset(seed=1)
        """,
        """
        import gymnasium as gym
        def make_env(rank, seed=0):
            def thunk():
                env = gym.make("CartPole-v1")
                env.reset(seed=seed + rank)
                return env
            return thunk
        envs = gym.vector.SyncVectorEnv([make_env(i, 3) for i in range(8)])
        """,
        """
        import gymnasium as gym
        def make_env(seed=None):
            def thunk():
                env = gym.make("CartPole-v1")
                env.reset(seed=seed)
                return env
            return thunk
        envs = gym.vector.SyncVectorEnv([make_env() for i in range(8)])
        """,
    ],
)
def test_quiet_where_lanes_differ_or_are_seeded_later(code):
    quiet(LanesGivenOneSeed(), text(code))
