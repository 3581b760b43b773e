from rldebug.evidence.env_play import EnvPlay, Twins
from rldebug.rules.environment.reward_ignores_action import RewardIgnoresAction
from tests.judge import fires, not_enough, quiet


def played(rewards_differ=0, ends_differ=0, **more):
    facts = {"pairs": 12, "steps": 600, "ended": 12, "obs_differ": 12, "rewards_vary": True, **more}
    return EnvPlay("x", actions=3, twins=Twins(rewards_differ=rewards_differ, ends_differ=ends_differ, **facts))


def test_fires_when_other_actions_have_the_same_rewards():
    assert "12 seeds" in fires(RewardIgnoresAction(), played()).seen


def test_quiet_when_one_pair_of_twelve_differs():
    quiet(RewardIgnoresAction(), played(rewards_differ=1))


def test_quiet_when_the_action_decides_the_length():
    quiet(RewardIgnoresAction(), played(ends_differ=4))


def test_quiet_when_all_rewards_are_one_number():
    quiet(RewardIgnoresAction(), played(rewards_vary=False))


def test_declines_where_no_pair_came_to_its_end():
    not_enough(RewardIgnoresAction(), played(ended=0))


def test_declines_where_the_environment_does_not_repeat_itself():
    not_enough(RewardIgnoresAction(), played(repeatable=False))
