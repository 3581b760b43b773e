import pytest

from rldebug.rules.value_loss.next_value_of_the_action_before import NextValueOfTheActionBefore
from tests.programs.formulas import found
from tests.programs.value_learners import learned, learner
from tests.watched import watched


@pytest.mark.parametrize("n", [1, 3])
def test_fires_where_the_best_action_is_asked_for_in_the_observation_before(n):
    script = watched(lambda: learner("elsewhere", n=n), overhead_budget=10.0)[1]
    (finding,) = found(NextValueOfTheActionBefore(), script)
    assert finding.component == "value-loss"


@pytest.mark.parametrize("n", [1, 3])
def test_quiet_where_it_is_asked_for_in_the_next_observation(n):
    assert not found(NextValueOfTheActionBefore(), learned(n=n))


def test_quiet_on_another_mistake():
    assert not found(NextValueOfTheActionBefore(), learned("least"))
