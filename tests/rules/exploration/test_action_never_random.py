from rldebug.rules.exploration.action_never_random import ActionNeverRandom
from tests.judge import not_enough
from tests.programs.targets import found, q_learner
from tests.watched import watched

RULE = ActionNeverRandom()


def seen(bug="", steps=300):
    return watched(lambda: q_learner(bug, epsilon=lambda step: 0.5, steps=steps), overhead_budget=10.0)[1]


def test_fires_where_one_of_three_is_left_out():
    (finding,) = found(RULE, seen("last never drawn"))
    assert finding.message == "random actions are never 2"


def test_quiet_where_all_are_drawn():
    assert not found(RULE, seen())


def test_declines_where_few_random_actions_were_seen():
    assert "random actions were seen" in not_enough(RULE, seen("last never drawn", steps=40))
