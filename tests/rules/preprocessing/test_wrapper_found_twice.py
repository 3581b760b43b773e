import gymnasium

from rldebug.rules.preprocessing.wrapper_found_twice import WrapperFoundTwice
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn, script
from tests.watched import watched

rule = WrapperFoundTwice()
normalised = gymnasium.wrappers.NormalizeObservation


def test_fires_where_observations_are_normalised_twice():
    found = fires(rule, watched(lambda: learn(normalised(normalised(Line())), steps=40))[1])
    assert found.component == "preprocessing"
    assert found.message == "observations are normalised twice"


def test_quiet_where_they_are_normalised_once():
    quiet(rule, watched(lambda: learn(normalised(Line()), steps=40))[1])


def test_quiet_where_the_second_does_nothing():
    quiet(rule, script({"facts": {"wrappers": ["TimeLimit", "ClipAction", "ClipAction", "TimeLimit"]}}))


def test_not_enough_without_wrappers():
    assert not_enough(rule, script({}))
