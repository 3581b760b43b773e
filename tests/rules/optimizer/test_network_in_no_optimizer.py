"""A network that no optimizer holds."""

from typing import Any

from rldebug.rules.optimizer.network_in_no_optimizer import NetworkInNoOptimizer
from tests.programs import learning
from tests.watched import findings

rule = NetworkInNoOptimizer()


def made(owners: dict[str, int], **more: Any) -> Any:
    weights: Any = ("weights", {"module": "net", "fingerprint": "a", "by_hand": 0, "trained": bool(owners)}, {})
    events: Any = [*[learning.loss(["net"], **more)] * 3, learning.step("adam", {}), weights]
    things: Any = {"module": {"net": learning.module(owners)}, "optimizer": {"adam": learning.optimizer({})}}
    return learning.script(events, events, **things)


def test_fires_on_a_head_that_is_in_no_optimizer() -> None:
    (found,) = findings(lambda: learning.regression("in no optimizer"), rule.code)
    assert "head" in found.message


def test_quiet_on_all_in_one_optimizer() -> None:
    _, script = learning.seen("regression")
    assert not list(rule.check(script))


def test_fires_on_a_part_left_out_is_a_warning() -> None:
    (found,) = rule.check(made({"adam": 3}))
    assert found.severity == "warning"


def test_quiet_on_a_part_that_no_loss_leads_to_may_be_left_out() -> None:
    assert not list(rule.check(made({"adam": 3}, frozen=["net.unused"], missed=1)))
