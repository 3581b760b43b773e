from rldebug.rules.exploration.actions_grow_random import ActionsGrowRandom
from tests.programs.targets import found, seen

RULE = ActionsGrowRandom(updates=100, steps=8)


def grows(step: int) -> float:
    return min(1.0, max(0.0, (step - 40) / 40))


def falls(step: int) -> float:
    return max(0.05, 1 - step / 60)


def test_fires_where_epsilon_grows():
    assert found(RULE, seen("q_learner", epsilon=grows))


def test_quiet_where_it_falls():
    assert not found(RULE, seen("q_learner", epsilon=falls))
