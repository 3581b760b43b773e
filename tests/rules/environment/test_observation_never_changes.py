from rldebug.evidence.env_play import EnvPlay, Play
from rldebug.rules.environment.observation_never_changes import ObservationNeverChanges
from tests.judge import fires, not_enough, quiet


def played(changed=0, **more):
    return EnvPlay(
        "x", plays=(Play("random", "random", (1.0, 2.0), (30, 40)),), obs_compared=500, obs_changed=changed, **more
    )


def test_fires_when_no_observation_differs_from_the_one_before():
    assert "500 steps" in fires(ObservationNeverChanges(), played()).seen


def test_quiet_when_it_changes_now_and_then():
    quiet(ObservationNeverChanges(), played(changed=1))


def test_quiet_when_the_space_has_a_single_value():
    quiet(ObservationNeverChanges(), played(obs_can_vary=False))


def test_quiet_when_episodes_are_one_step_long():
    quiet(ObservationNeverChanges(), EnvPlay("x", (Play("random", "random", (1.0,), (1,)),), obs_compared=500))


def test_declines_on_a_few_steps():
    not_enough(ObservationNeverChanges(), EnvPlay("x", obs_compared=20))
