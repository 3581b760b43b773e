"""A schedule the wrong way round."""

from rldebug.rules.optimizer.learning_rate_grows import LearningRateGrows
from tests.judge import fires, not_enough, quiet
from tests.programs import learning

rule = LearningRateGrows()


def test_fires_on_a_rate_that_is_largest_at_the_end() -> None:
    found = fires(rule, learning.seen("regression", "grows", steps=120)[0])
    assert found.component == "optimizer"


def test_quiet_on_a_rate_that_warms_up_stays_or_falls() -> None:
    quiet(rule, learning.seen("regression", "warms up", steps=120)[0])
    quiet(rule, learning.seen("regression")[0])
    quiet(rule, learning.seen("regression", "runs out", steps=120)[0])


def test_declines_on_a_few_updates() -> None:
    not_enough(rule, learning.seen("regression", "grows", steps=20)[0])
