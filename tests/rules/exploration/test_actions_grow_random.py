from rldebug.rules.exploration.actions_grow_random import ActionsGrowRandom
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched

RULE = ActionsGrowRandom(updates=80, steps=16, early=0.35, late=0.6)


def grows(step: int) -> float:
    return min(1.0, max(0.0, (step - 40) / 40))


def falls(step: int) -> float:
    return max(0.05, 1 - step / 60)


def test_fires_where_epsilon_grows():
    assert found(RULE, watched(lambda: q_learner(epsilon=grows), overhead_budget=10.0)[1])


def test_quiet_where_it_falls():
    assert not found(RULE, seen("q_learner", epsilon=falls))
