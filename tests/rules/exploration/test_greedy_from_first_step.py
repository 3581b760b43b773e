from rldebug.rules.exploration.greedy_from_first_step import GreedyFromFirstStep
from tests.programs.targets import found, seen


def never(step: int) -> float:
    return 0.0


def seldom(step: int) -> float:
    return 0.1


def test_fires_where_nothing_is_tried():
    (finding,) = found(GreedyFromFirstStep(), seen("q_learner", epsilon=never))
    assert finding.where.update == 0


def test_quiet_where_a_tenth_is_random():
    assert not found(GreedyFromFirstStep(), seen("q_learner", epsilon=seldom))


def test_quiet_where_the_worst_is_taken():
    assert not found(GreedyFromFirstStep(), seen("q_learner", epsilon=never, choose="argmin"))
