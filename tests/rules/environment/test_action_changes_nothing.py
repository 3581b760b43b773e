from rldebug.evidence.env_play import EnvPlay, Twins
from rldebug.rules.environment.action_changes_nothing import ActionChangesNothing
from tests.judge import fires, not_enough, quiet


def played(actions=2.0, **more):
    return EnvPlay("x", actions=actions, twins=Twins(**{"pairs": 12, "steps": 400, "ended": 12, **more}))


def test_fires_when_nothing_differs():
    assert fires(ActionChangesNothing(), played()).severity == "error"


def test_quiet_when_only_the_reward_differs():
    quiet(ActionChangesNothing(), played(rewards_differ=1))


def test_quiet_when_only_an_observation_differs():
    quiet(ActionChangesNothing(), played(obs_differ=1))


def test_quiet_in_what_may_be_an_intro():
    quiet(ActionChangesNothing(), played(ended=0))


def test_declines_where_there_is_one_action():
    not_enough(ActionChangesNothing(), played(actions=1.0))
