from rldebug.evidence.env_play import EnvPlay, Rewards
from rldebug.rules.normalisation.reward_outliers import RewardOutliers
from tests.judge import fires, not_enough, quiet


def played(*largest, steps=5000):
    return EnvPlay("x", rewards=Rewards(steps=steps, middle=0.1, largest=largest))


def test_fires_when_rewards_blow_up():
    assert "-9000 and 2 more" in fires(RewardOutliers(), played(-9000.0, 700.0, 250.0, 0.4)).seen


def test_quiet_on_a_fixed_prize():
    quiet(RewardOutliers(), played(500.0, 500.0, 500.0, 0.1))


def test_quiet_on_rewards_a_hundred_times_as_large():
    quiet(RewardOutliers(), played(12.0, 11.0, 10.0))


def test_declines_on_a_few_steps():
    not_enough(RewardOutliers(), played(-9000.0, 700.0, 250.0, steps=20))
