import pytest

from rldebug.rule import NotEnough
from rldebug.rules.buffer.exchanged_goals_never_reached import ExchangedGoalsNeverReached
from tests.programs.formulas import found
from tests.programs.value_learners import relabelled


def test_fires_where_the_reward_stays_that_of_the_old_goal():
    (finding,) = found(ExchangedGoalsNeverReached(), relabelled("reward-kept"))
    assert finding.component == "buffer"
    assert "goals in a batch" in finding.seen


def test_quiet_where_it_is_computed_anew():
    assert not found(ExchangedGoalsNeverReached(), relabelled())


def test_quiet_where_no_goal_is_exchanged():
    with pytest.raises(NotEnough):
        list(ExchangedGoalsNeverReached().check(relabelled("no-hindsight")))
