import pytest

from rldebug.rules.evaluation.evaluation_asks_first_observation import EvaluationAsksFirstObservation
from tests.judge import fires, not_enough, quiet
from tests.programs.kept import learner
from tests.programs.targets import q_learner
from tests.watched import watched

rule = EvaluationAsksFirstObservation()


def seen(folder, **how):
    return watched(lambda: learner([1.0, 2.0, 3.0, 4.0], folder, keep="highest", **how), overhead_budget=10.0)[1]


@pytest.mark.parametrize("tests", [1, 4])
def test_fires_where_it_is_never_replaced(tmp_path, tests):
    assert "the observations of the call before" in fires(rule, seen(tmp_path, stale=True, tests=tests)).seen


@pytest.mark.parametrize("tests", [1, 4])
def test_quiet_where_it_is(tmp_path, tests):
    quiet(rule, seen(tmp_path, tests=tests))


def test_declines_without_an_evaluation():
    not_enough(rule, watched(q_learner)[1])
