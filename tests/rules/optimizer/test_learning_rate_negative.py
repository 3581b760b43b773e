"""A decay beyond its end."""

from rldebug.rules.optimizer.learning_rate_negative import LearningRateNegative
from tests.programs import learning

rule = LearningRateNegative()


def test_a_rate_below_zero_is_found() -> None:
    _, script = learning.seen("regression", "negative")
    (found,) = rule.check(script)
    assert "negative" in found.message


def test_a_decay_to_zero_is_fine() -> None:
    _, script = learning.seen("regression", "runs out", steps=120)
    assert not list(rule.check(script))
