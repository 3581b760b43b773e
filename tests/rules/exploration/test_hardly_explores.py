from rldebug.forensics.exploring import lower_bound, upper_bound
from rldebug.rules.exploration.hardly_explores import HardlyExplores
from tests.judge import not_enough
from tests.programs.targets import found, q_learner
from tests.watched import watched

RULE = HardlyExplores()


def seen(epsilon, steps=700):
    return watched(lambda: q_learner(epsilon=epsilon, steps=steps, warm=150), overhead_budget=10.0)[1]


def test_fires_where_a_few_are_random_from_the_first_step_on():
    (finding,) = found(RULE, seen(lambda step: 0.02))
    assert "of the first" in finding.seen


def test_quiet_where_the_share_falls_to_a_few():
    assert not found(RULE, seen(lambda step: max(0.03, 1 - step / 120)))


def test_quiet_where_a_tenth_is_random():
    assert not found(RULE, seen(lambda step: 0.12))


def test_quiet_where_every_action_is_random():
    """By chance more actions differ from the best than are expected of random ones: an estimate above all steps."""
    assert not found(RULE, seen(lambda step: 1.0))
    assert upper_bound(108, 100) == 1.0
    assert 0.9 < lower_bound(108, 100) < 1.0


def test_declines_on_a_short_run():
    assert "steps" in not_enough(RULE, seen(lambda step: 0.03, steps=60))
