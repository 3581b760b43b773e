from rldebug.evidence.env_play import EnvPlay, Rewards
from rldebug.rules.normalisation.reward_scale_extreme import RewardScaleExtreme
from tests.judge import fires, not_enough, quiet


def played(size, steps=5000):
    return EnvPlay("x", rewards=Rewards(steps=steps, distinct=500, low=-size, high=size, rms=size))


def test_fires_on_large_rewards_as_a_note():
    assert fires(RewardScaleExtreme(), played(5e3)).severity == "note"


def test_fires_on_huge_rewards_as_a_warning():
    assert fires(RewardScaleExtreme(), played(1e6)).severity == "warning"


def test_fires_on_small_rewards():
    assert fires(RewardScaleExtreme(), played(1e-5)).message == "rewards are very small"


def test_quiet_on_rewards_in_the_hundreds():
    quiet(RewardScaleExtreme(), played(500.0))


def test_quiet_on_rewards_of_zero():
    quiet(RewardScaleExtreme(), played(0.0))


def test_declines_on_a_few_steps():
    not_enough(RewardScaleExtreme(), played(1e6, steps=3))
