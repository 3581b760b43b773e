from rldebug.rules.buffer.goal_exchanged_in_one_place import GoalExchangedInOnePlace
from tests.programs.formulas import found
from tests.programs.value_learners import relabelled


def test_fires_where_the_next_observation_keeps_the_old_goal():
    (finding,) = found(GoalExchangedInOnePlace(), relabelled("old-goal-next"))
    assert finding.component == "buffer"
    assert finding.seen.endswith("in the observation alone")


def test_quiet_where_both_have_the_new_one():
    assert not found(GoalExchangedInOnePlace(), relabelled())


def test_quiet_where_no_goal_is_exchanged():
    assert not found(GoalExchangedInOnePlace(), relabelled("no-hindsight"))


def test_fires_where_the_goal_stands_beside_the_observation():
    (finding,) = found(GoalExchangedInOnePlace(), relabelled("beside-old-goal-next"))
    assert finding.seen.endswith("in the observation alone")


def test_quiet_where_both_have_the_goal_beside_them():
    assert not found(GoalExchangedInOnePlace(), relabelled("beside"))
