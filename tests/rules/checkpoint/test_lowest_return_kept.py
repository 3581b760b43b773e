import pytest

from rldebug.rules.checkpoint.lowest_return_kept import LowestReturnKept
from tests.judge import fires, not_enough, quiet
from tests.programs.kept import learner
from tests.watched import watched

RISING = [1.0, 2.0, 3.0, 2.5, 4.0]
MIXED = [3.0, 4.0, 2.0, 5.0, 1.0]
rule = LowestReturnKept()


def seen(folder, scores, **how):
    return watched(lambda: learner(scores, folder, **how), overhead_budget=10.0)[1]


@pytest.mark.parametrize("scores", [RISING, MIXED])
def test_fires_where_the_worst_are_kept(tmp_path, scores):
    assert "better than all before, and none of them was kept" in fires(rule, seen(tmp_path, scores)).seen


def test_quiet_where_the_best_are_kept(tmp_path):
    quiet(rule, seen(tmp_path, MIXED, keep="highest"))


def test_quiet_where_they_are_kept_at_fixed_times(tmp_path):
    quiet(rule, seen(tmp_path, [3.0, 4.0, 5.0, 6.0, 7.0], keep="fixed"))


def test_quiet_where_the_first_are_kept_and_never_asked_for(tmp_path):
    quiet(rule, seen(tmp_path, RISING, load=False))


def test_declines_after_two_evaluations(tmp_path):
    not_enough(rule, seen(tmp_path, [1.0, 2.0]))
