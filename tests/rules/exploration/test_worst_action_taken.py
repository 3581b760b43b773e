from rldebug.rules.exploration.worst_action_taken import WorstActionTaken
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched


def seldom(step: int) -> float:
    return 0.1


def test_fires_where_the_smallest_value_is_chosen():
    (finding,) = found(
        WorstActionTaken(), watched(lambda: q_learner(epsilon=seldom, choose="argmin"), overhead_budget=10.0)[1]
    )
    assert finding.severity == "error"


def test_quiet_where_the_largest_is():
    assert not found(WorstActionTaken(), seen("q_learner", epsilon=seldom))
