"""Clipping below the step."""

from rldebug.rules.optimizer.gradients_clipped_after_step import GradientsClippedAfterStep
from tests.programs import learning
from tests.watched import findings

rule = GradientsClippedAfterStep()


def test_fires_on_clipping_below_the_step() -> None:
    (found,) = findings(lambda: learning.regression("clip after"), rule.code)
    assert found.component == "optimizer"
    assert str(found.where.file).endswith("learning.py")


def test_quiet_on_clipping_before_the_step() -> None:
    _, script = learning.seen("regression", "clip")
    assert not list(rule.check(script))


def test_quiet_on_a_norm_that_is_only_logged_is_no_clipping() -> None:
    late = learning.clip(["net"], 1e9, 2.0, after_step=True)
    in_time = learning.clip(["net"], 0.5, 2.0, line=["train.py", 6])
    assert not list(rule.check(learning.script([late, in_time] * 6)))
