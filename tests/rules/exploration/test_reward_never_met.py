from rldebug.evidence.env_play import EnvPlay, Play, Rewards
from rldebug.rules.exploration.reward_never_met import RewardNeverMet
from tests.judge import fires, not_enough, quiet


def played(low=0.0, distinct=1, lengths=(20, 30), kind="random", unseen=0.5):
    plays = (Play("random", kind, (0.0, 0.0), lengths),)
    rewards = Rewards(steps=5000, distinct=distinct, low=low, high=low)
    return EnvPlay("x", plays, rewards=rewards, unseen=unseen)


def test_fires_when_every_reward_is_zero():
    assert fires(RewardNeverMet(), played()).severity == "note"


def test_fires_as_a_warning_when_everything_was_tried():
    assert fires(RewardNeverMet(), played(unseen=0.0)).severity == "warning"


def test_fires_as_a_warning_when_the_cheat_met_none_either():
    assert fires(RewardNeverMet(), played(kind="cheat")).severity == "warning"


def test_fires_when_all_episodes_are_equally_long_and_cost_the_same():
    assert "every reward was -1" in fires(RewardNeverMet(), played(low=-1.0, lengths=(200, 200))).seen


def test_quiet_when_the_length_makes_the_difference():
    quiet(RewardNeverMet(), played(low=1.0))


def test_quiet_when_a_reward_was_met_once():
    quiet(RewardNeverMet(), played(distinct=2))


def test_declines_on_a_few_steps():
    not_enough(RewardNeverMet(), EnvPlay("x", rewards=Rewards(steps=10, distinct=1)))
