"""A decay that is over too early."""

from rldebug.rules.optimizer.learning_rate_runs_out import LearningRateRunsOut
from tests.programs import learning

rule = LearningRateRunsOut()


def test_fires_on_a_rate_that_is_nil_for_most_of_the_run() -> None:
    run, _ = learning.seen("regression", "runs out", steps=120)
    (found,) = rule.check(run)
    assert "update 3" in found.seen


def test_quiet_on_a_constant_rate() -> None:
    run, _ = learning.seen("regression")
    assert not list(rule.check(run))
