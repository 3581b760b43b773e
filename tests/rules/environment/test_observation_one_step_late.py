from rldebug.rules.environment.observation_one_step_late import ObservationOneStepLate
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn
from tests.watched import watched

rule = ObservationOneStepLate()


def seen(env=None, steps=160):
    return watched(lambda: learn(env, steps=steps), overhead_budget=9.0)[1]  # every phase is looked at


def test_fires_where_the_observation_is_computed_too_early():
    found = fires(rule, seen(Line("late")))
    assert found.component == "environment"
    assert "again" in found.seen


def test_quiet_where_it_is_computed_after_the_move():
    quiet(rule, seen())


def test_quiet_where_nothing_ever_moves():
    quiet(rule, seen(Line("still")))


def test_not_enough_episodes():
    assert "episodes" in not_enough(rule, seen(steps=12))
