"""An error that is made to grow."""

from typing import Any

from rldebug.rules.optimizer.error_maximised import ErrorMaximised
from tests.programs import learning
from tests.watched import findings

rule = ErrorMaximised()


def test_fires_on_an_error_that_is_maximised() -> None:
    (found,) = findings(lambda: learning.regression("maximise"), rule.code)
    assert "maximize=True" in found.seen


def test_quiet_on_an_error_that_is_minimised() -> None:
    _, script = learning.seen("regression")
    assert not list(rule.check(script))


def test_quiet_on_an_objective_with_the_error_subtracted_may_be_maximised() -> None:
    events: Any = [
        learning.loss(["net"]),
        learning.term("regression", ["net"], -0.5, prediction=[1.0], target=[0.0], op="square", nested=""),
    ]
    made = learning.optimizer({"net": 4}, settings={"maximize": True})
    assert not list(rule.check(learning.script(events * 6, optimizer={"it": made})))
