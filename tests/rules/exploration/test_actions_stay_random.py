from rldebug.rules.exploration.actions_stay_random import ActionsStayRandom
from tests.programs.targets import found, seen

RULE = ActionsStayRandom(updates=100, steps=8)


def always(step: int) -> float:
    return 1.0


def falls(step: int) -> float:
    return max(0.05, 1 - step / 60)


def test_fires_where_epsilon_never_falls():
    (finding,) = found(RULE, seen("q_learner", epsilon=always))
    assert finding.component == "exploration"


def test_quiet_where_it_falls():
    assert not found(RULE, seen("q_learner", epsilon=falls))
