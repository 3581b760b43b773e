from rldebug.rules.exploration.actions_stay_random import ActionsStayRandom
from tests.judge import not_enough
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


FEW = ActionsStayRandom(updates=80, steps=10_000, each=40, last=5, learned=20, early=0.35, late=0.6)


def test_fires_on_few_late_steps_where_every_one_is_random():
    (finding,) = found(FEW, watched(lambda: q_learner(epsilon=always), overhead_budget=10.0)[1])
    assert "100%" in finding.seen


def test_declines_on_few_late_steps_where_some_are_not():
    assert "looked at" in not_enough(FEW, seen("q_learner", epsilon=falls))
