"""Layers in a Python list."""

from rldebug.rules.network.layers_not_registered import LayersNotRegistered
from tests.programs import learning
from tests.watched import findings

rule = LayersNotRegistered()


def test_fires_on_layers_in_a_list() -> None:
    (found,) = findings(lambda: learning.pair("listed"), rule.code)
    assert found.message.startswith("4 tensors")


def test_quiet_on_layers_in_a_module_list() -> None:
    _, script = learning.seen("pair")
    assert not list(rule.check(script))


def test_quiet_on_a_temperature_in_an_optimizer() -> None:
    _, script = learning.seen("actor_critic")
    assert not list(rule.check(script))
