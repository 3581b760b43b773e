from rldebug.rules.exploration.actions_stay_random import ActionsStayRandom
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched

RULE = ActionsStayRandom(updates=80, steps=16, early=0.35, late=0.6)


def always(step: int) -> float:
    return 1.0


def falls(step: int) -> float:
    return max(0.05, 1 - step / 60)


def test_fires_where_epsilon_never_falls():
    (finding,) = found(RULE, watched(lambda: q_learner(epsilon=always), overhead_budget=10.0)[1])
    assert finding.component == "exploration"


def test_quiet_where_it_falls():
    assert not found(RULE, seen("q_learner", epsilon=falls))
