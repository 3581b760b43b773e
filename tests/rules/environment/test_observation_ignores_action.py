from rldebug.evidence.env_play import EnvPlay, Twins
from rldebug.rules.environment.observation_ignores_action import ObservationIgnoresAction
from tests.judge import fires, not_enough, quiet


def played(**more):
    twins = Twins(**{"pairs": 12, "steps": 400, "ended": 12, "rewards_differ": 12, **more})
    return EnvPlay("x", actions=3, twins=twins, obs_compared=500, obs_changed=500)


def test_fires_when_rewards_differ_and_observations_do_not():
    assert fires(ObservationIgnoresAction(), played()).severity == "note"


def test_quiet_when_one_observation_differs():
    quiet(ObservationIgnoresAction(), played(obs_differ=1))


def test_quiet_when_nothing_differs_at_all():
    quiet(ObservationIgnoresAction(), played(rewards_differ=0))


def test_declines_on_a_few_steps():
    not_enough(ObservationIgnoresAction(), played(steps=10))
