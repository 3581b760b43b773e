from rldebug.rules.exploration.exploration_over_before_learning import ExplorationOverBeforeLearning
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched

RULE = ExplorationOverBeforeLearning(steps=100)


def at_once(step: int) -> float:
    return 1.0 if step < 20 else 0.0


def slowly(step: int) -> float:
    return max(0.05, 1 - step / 200)


def test_fires_where_it_is_over_after_twenty_steps_of_a_warm_up():
    assert found(RULE, watched(lambda: q_learner(epsilon=at_once, warm=150, steps=200), overhead_budget=10.0)[1])


def test_quiet_where_it_falls_slowly():
    assert not found(RULE, seen("q_learner", epsilon=slowly, warm=150, steps=200))
