"""Clipping above the backward pass."""

from typing import Any

from rldebug.rules.optimizer.clipping_finds_no_gradient import ClippingFindsNoGradient
from tests.programs import learning
from tests.watched import findings

rule = ClippingFindsNoGradient()


def test_fires_on_clipping_above_the_backward_pass() -> None:
    (found,) = findings(lambda: learning.regression("clip before"), rule.code)
    assert "longer than 0.05" in found.seen


def test_quiet_on_clipping_of_gradients_that_are_there() -> None:
    _, script = learning.seen("regression", "clip")
    assert not list(rule.check(script))


def test_quiet_on_nothing_is_said_where_no_gradient_is_beyond_the_limit() -> None:
    events: Any = [learning.clip(["net"], 5.0, 0.0, without=4), learning.step("adam", {"net": 1.0})]
    assert not list(rule.check(learning.script(events * 8)))
