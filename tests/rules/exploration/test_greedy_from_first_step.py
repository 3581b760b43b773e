from rldebug.rules.exploration.greedy_from_first_step import GreedyFromFirstStep
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched

RULE = GreedyFromFirstStep(steps=80)


def never(step: int) -> float:
    return 0.0


def seldom(step: int) -> float:
    return 0.1


def test_fires_where_nothing_is_tried():
    (finding,) = found(RULE, watched(lambda: q_learner(epsilon=never), overhead_budget=10.0)[1])
    assert finding.where.update == 0


def test_quiet_where_a_tenth_is_random():
    assert not found(RULE, seen("q_learner", epsilon=seldom))


def test_quiet_where_the_worst_is_taken():
    assert not found(RULE, seen("q_learner", epsilon=never, choose="argmin"))
