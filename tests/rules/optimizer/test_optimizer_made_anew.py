"""Optimizers that are made in the loop."""

from rldebug.rules.optimizer.optimizer_made_anew import OptimizerMadeAnew
from tests.programs import learning
from tests.watched import findings

rule = OptimizerMadeAnew()


def test_fires_on_an_optimizer_in_the_loop() -> None:
    (found,) = findings(lambda: learning.regression("optimizer in loop"), rule.code)
    assert found.where.line


def test_quiet_on_one_optimizer() -> None:
    _, script = learning.seen("regression")
    assert not list(rule.check(script))


def test_quiet_on_plain_sgd_forgets_nothing() -> None:
    made = learning.optimizer({"net": 4}, settings={"momentum": 0}, steps=1, **{"class": "SGD"})
    assert not list(rule.check(learning.script([], optimizer={f"sgd-{each}": made for each in range(20)})))
