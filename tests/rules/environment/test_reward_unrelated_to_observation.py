from rldebug.evidence.env_play import EnvPlay
from rldebug.rules.environment.reward_unrelated_to_observation import RewardUnrelatedToObservation
from tests.judge import fires, not_enough, quiet


def test_fires_when_nothing_is_explained():
    assert "0.4%" in fires(RewardUnrelatedToObservation(), EnvPlay("x", reward_told=0.004)).seen


def test_quiet_when_a_little_is_explained():
    quiet(RewardUnrelatedToObservation(), EnvPlay("x", reward_told=0.05))


def test_declines_where_it_was_not_measured():
    not_enough(RewardUnrelatedToObservation(), EnvPlay("x"))
