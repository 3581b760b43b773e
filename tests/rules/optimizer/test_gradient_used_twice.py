"""Two steps for one gradient."""

from typing import Any

from rldebug.rules.optimizer.gradient_used_twice import GradientUsedTwice
from tests.programs import learning
from tests.watched import findings

rule = GradientUsedTwice()


def test_fires_on_two_steps_on_one_gradient() -> None:
    (found,) = findings(lambda: learning.regression("steps twice"), rule.code)
    assert "60 of 120" in found.seen


def test_quiet_on_one_step_for_each_gradient() -> None:
    _, script = learning.seen("regression")
    assert not list(rule.check(script))


def test_quiet_on_two_optimizers_may_use_one_backward_pass() -> None:
    events: Any = [
        event
        for number in range(10)
        for event in (
            learning.loss(["actor", "critic"]),
            learning.step("a", {"actor": 1.0}, backwards=number),
            learning.step("b", {"critic": 1.0}, backwards=number),
        )
    ]
    things: Any = {"a": learning.optimizer({"actor": 4}, idle=0), "b": learning.optimizer({"critic": 4}, idle=0)}
    assert not list(rule.check(learning.script(events, optimizer=things)))
