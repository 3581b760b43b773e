import numpy as np

from rldebug.rules.preprocessing.observation_cut_off import ObservationCutOff
from tests.judge import fires, not_enough, quiet
from tests.programs.made import call, nodes, script

rule = ObservationCutOff()


def seen(obs, given=None):
    rows = np.arange(len(obs))
    given = obs if given is None else given
    return script([(nodes(obs), [call(0, rows, given, acting=True), call(1, rows, given, grad=True)])], [{}])


def values(count=300):
    return np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)


def test_fires_where_the_environment_cuts_them_off():
    found = fires(rule, seen(np.clip(values(), -0.1, 0.1)))
    assert "cut off" in found.message


def test_fires_where_the_network_is_given_them_so():
    found = fires(rule, seen(values(), given=np.clip(values() * 30, -1, 1)))
    assert "is given" in found.message


def test_quiet_where_few_reach_the_bounds_or_one_does():
    quiet(rule, seen(np.clip(values(), -2, 2)))
    quiet(rule, seen(np.clip(values(), -9, -1)))


def test_quiet_where_elements_are_flags_or_on_a_grid():
    quiet(rule, seen((values() > 0).astype(np.float32)))
    quiet(rule, seen(np.clip(np.round(values() * 3), -1, 1)))


def test_quiet_where_one_element_of_many_is():
    some = values()
    some[:, 0] = np.clip(some[:, 0], -0.1, 0.1)
    quiet(rule, seen(some))


def test_declines_on_few_rows():
    assert "observations" in not_enough(rule, seen(values(40)))
