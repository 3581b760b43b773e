from rldebug.evidence.run import Run
from rldebug.rules.action_sampling.action_outside_bounds import ActionOutsideBounds
from tests.judge import fires, not_enough, quiet


def test_fires_when_samples_reach_the_environment_unclipped():
    run = Run.from_series({"env/action_outside": [0.05, 0.08, 0.06, 0.1]})
    assert fires(ActionOutsideBounds(), run).severity == "note"


def test_quiet_when_actions_are_clipped():
    quiet(ActionOutsideBounds(), Run.from_series({"env/action_outside": [0.0] * 20}))


def test_declines_on_a_handful_of_readings():
    not_enough(ActionOutsideBounds(), Run.from_series({"env/action_outside": [0.5]}))
