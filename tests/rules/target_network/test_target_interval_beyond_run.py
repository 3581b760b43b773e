import pytest

from rldebug.rules.target_network.target_interval_beyond_run import TargetIntervalBeyondRun
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        from stable_baselines3 import DQN
        model = DQN("MlpPolicy", "CartPole-v1", target_update_interval=50_000)  # here
        model.learn(20_000)
        """,
        """
        import argparse
        from stable_baselines3 import DQN
        p = argparse.ArgumentParser()
        p.add_argument("--steps", type=int, default=5000)
        p.add_argument("--sync", type=int, default=30000)
        args = p.parse_args()
        model = DQN("MlpPolicy", "CartPole-v1", target_update_interval=args.sync)  # here
        model.learn(total_timesteps=args.steps)
        """,
    ],
)
def test_fires_where_the_run_is_shorter(code):
    points_at(TargetIntervalBeyondRun(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        from stable_baselines3 import DQN
        model = DQN("MlpPolicy", "CartPole-v1", target_update_interval=500)
        model.learn(20_000)
        """,
        """
        from stable_baselines3 import DQN
        model = DQN("MlpPolicy", "CartPole-v1", target_update_interval=10_000)
        for _ in range(10):
            model.learn(2_000, reset_num_timesteps=False)
        """,
        """
        import sys
        from stable_baselines3 import DQN
        model = DQN("MlpPolicy", "CartPole-v1", target_update_interval=10_000)
        model.learn(int(sys.argv[1]))
        """,
    ],
)
def test_quiet_where_it_fits_or_is_not_known(code):
    quiet(TargetIntervalBeyondRun(), text(code))
