"""A decay beyond its end."""

from rldebug.rules.optimizer.learning_rate_negative import LearningRateNegative
from tests.programs import learning
from tests.watched import findings

rule = LearningRateNegative()


def test_fires_on_a_rate_below_zero() -> None:
    (found,) = findings(lambda: learning.regression("negative"), rule.code)
    assert "negative" in found.message


def test_quiet_on_a_decay_to_zero() -> None:
    _, script = learning.seen("regression", "runs out", steps=120)
    assert not list(rule.check(script))


def test_fires_on_a_last_rollout_beyond_the_end_is_a_note() -> None:
    made = learning.optimizer({}, lr_first=1e-3, lr_highest=1e-3, lr_lowest=-2e-5, lr_last=-2e-5)
    (found,) = rule.check(learning.script([], optimizer={"adam": made}))
    assert found.severity == "note"
