"""Clipping one of two networks."""

from typing import Any

from rldebug.rules.optimizer.clipping_leaves_network_out import ClippingLeavesNetworkOut
from tests.programs import learning
from tests.watched import findings

rule = ClippingLeavesNetworkOut()

THINGS: Any = {
    "optimizer": {"adam": learning.optimizer({"actor": 4, "critic": 4})},
    "module": {"actor": learning.module({"adam": 4}), "critic": learning.module({"adam": 4})},
}


def test_fires_on_the_larger_network_left_out() -> None:
    (found,) = findings(lambda: learning.regression("clip critic", steps=24), rule.code)
    assert "head" in found.message


def test_quiet_on_both_clipped_apart() -> None:
    events: Any = [
        learning.clip(["actor"], 0.5, 0.1),
        learning.clip(["critic"], 0.5, 9.0),
        learning.step("adam", {"actor": 0.1, "critic": 9.0}),
    ]
    assert not list(rule.check(learning.script(events * 10, **THINGS)))


def test_quiet_on_a_small_gradient_may_be_left_out() -> None:
    events: Any = [learning.clip(["actor"], 0.5, 0.4), learning.step("adam", {"actor": 0.4, "critic": 0.6})]
    assert not list(rule.check(learning.script(events * 10, **THINGS)))
