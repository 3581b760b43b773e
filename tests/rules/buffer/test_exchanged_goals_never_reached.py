import pytest

from rldebug.rule import NotEnough
from rldebug.rules.buffer import exchanged_goals_never_reached as rules
from rldebug.rules.buffer.exchanged_goals_never_reached import ExchangedGoalsNeverReached
from tests.programs.formulas import found
from tests.programs.value_learners import relabelled


def test_fires_where_the_reward_stays_that_of_the_old_goal():
    (finding,) = found(ExchangedGoalsNeverReached(), relabelled("reward-kept"))
    assert finding.component == "buffer"
    assert "whose step reaches the new goal" in finding.seen


def test_fires_by_counting_where_what_reaching_means_was_not_seen(monkeypatch):
    monkeypatch.setattr(rules, "paid_in_hindsight", lambda _: None)
    (finding,) = found(ExchangedGoalsNeverReached(), relabelled("reward-kept"))
    assert "goals in a batch" in finding.seen


def test_fires_where_there_are_few_goals_and_each_row_is_followed():
    (finding,) = found(ExchangedGoalsNeverReached(), relabelled("few-goals-reward-kept"))
    assert "whose step reaches the new goal" in finding.seen


def test_quiet_where_there_are_few_goals():
    assert not found(ExchangedGoalsNeverReached(), relabelled("few-goals"))


def test_quiet_where_it_is_computed_anew():
    assert not found(ExchangedGoalsNeverReached(), relabelled())


def test_quiet_where_no_goal_is_exchanged():
    with pytest.raises(NotEnough):
        list(ExchangedGoalsNeverReached().check(relabelled("no-hindsight")))


def test_fires_where_the_goal_stands_beside_the_observation_and_the_loop_ends_episodes():
    (finding,) = found(ExchangedGoalsNeverReached(), relabelled("beside-reward-kept"))
    assert "reaches the new goal" in finding.seen


def test_quiet_where_the_goal_stands_beside_the_observation():
    assert not found(ExchangedGoalsNeverReached(), relabelled("beside"))


def test_episodes_that_the_loop_ends_are_counted(monkeypatch):
    monkeypatch.setattr(rules, "paid_in_hindsight", lambda _: None)
    with pytest.raises(NotEnough, match="no goals that were exchanged"):
        list(ExchangedGoalsNeverReached().check(relabelled("beside-no-hindsight")))
