"""A loss that another optimizer steps after."""

from rldebug.rules.optimizer.network_never_stepped import NetworkNeverStepped
from tests.programs import learning
from tests.watched import findings

rule = NetworkNeverStepped()


def test_fires_on_a_loss_followed_by_another_step() -> None:
    (found,) = findings(lambda: learning.pair("other step"), rule.code)
    assert "model_step" in found.message


def test_quiet_on_each_with_its_own_step() -> None:
    _, script = learning.seen("pair")
    assert not list(rule.check(script))
