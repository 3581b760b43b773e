"""Limits that leave nothing."""

from typing import Any

from rldebug.rules.optimizer.clipping_swallows_gradient import ClippingSwallowsGradient
from tests.programs import learning
from tests.watched import findings

rule = ClippingSwallowsGradient()


def test_fires_on_a_limit_below_the_eps_of_adam() -> None:
    (found,) = findings(lambda: learning.regression("clip to nothing"), rule.code)
    assert found.severity == "error"


def test_quiet_on_a_usual_limit_however_long_the_gradients() -> None:
    events: Any = [learning.clip(["net"], 0.5, 500.0), learning.step("adam", {"net": 0.5}, weights_norm=10.0)]
    made = learning.script(events * 8, optimizer={"adam": learning.optimizer({"net": 4})})
    assert not list(rule.check(made))


def test_fires_on_a_limit_of_zero() -> None:
    events: Any = [learning.clip(["net"], 0.0, 5.0), learning.step("sgd", {"net": 0.0})]
    sgd = learning.optimizer({"net": 4}, settings={"momentum": 0}, **{"class": "SGD"})
    assert len(list(rule.check(learning.script(events * 8, optimizer={"sgd": sgd})))) == 1
