"""A network that was frozen by mistake."""

from typing import Any

from rldebug.rules.network.network_frozen import NetworkFrozen
from tests.programs import learning
from tests.watched import findings

rule = NetworkFrozen()


def test_fires_on_a_frozen_network_in_an_optimizer() -> None:
    (found,) = findings(lambda: learning.pair("frozen"), rule.code)
    assert "Layers" in found.message


def test_quiet_on_a_network_that_learns() -> None:
    _, script = learning.seen("pair")
    assert not list(rule.check(script))


def test_quiet_on_a_frozen_target_in_no_optimizer() -> None:
    weights: Any = ("weights", {"module": "target", "fingerprint": "a"}, {})
    modules = {"target": learning.module({}, trainable=0)}
    made = learning.script([weights], [weights], module=modules, optimizer={"adam": learning.optimizer({"net": 4})})
    assert not list(rule.check(made))
