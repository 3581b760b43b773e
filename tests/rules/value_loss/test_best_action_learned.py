import pytest

from rldebug.rule import NotEnough
from rldebug.rules.value_loss.best_action_learned import BestActionLearned
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_the_largest_output_is_the_prediction():
    (finding,) = found(BestActionLearned(), learned("best learned"))
    assert finding.component == "value-loss"
    assert "another action was executed" in finding.seen


def test_quiet_where_few_of_the_executed_actions_were_others():
    assert not found(BestActionLearned(wrong=1.0), learned("best learned"))


def test_quiet_where_it_is_that_of_the_action():
    with pytest.raises(NotEnough, match="0 rows"):
        found(BestActionLearned(), learned())
