"""Weights that stay where they were."""

from typing import Any

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.optimizer.weights_hardly_move import WeightsHardlyMove
from tests.programs import learning
from tests.watched import findings

rule = WeightsHardlyMove()


def made(change: float, norm: float = 1.0, **more: Any) -> Any:
    weights: Any = ("weights", {"module": "net", "change": change, "since": 100, "trained": True}, {})
    events: Any = [*[learning.step("sgd", {"net": norm})] * 4, weights]
    things: Any = {"module": {"net": learning.module({"sgd": 4})}, "optimizer": {"sgd": learning.optimizer({"net": 4})}}
    return learning.script(events, events, events, **things, **more)


def test_fires_on_weights_that_hardly_move() -> None:
    (found,) = rule.check(made(1e-4))
    assert "0.03%" in found.seen


def test_fires_on_plain_sgd_with_a_tiny_rate() -> None:
    (found,) = findings(lambda: learning.regression("slow", steps=140), rule.code)
    assert "SGD, learning rate 1e-06" in found.seen


def test_quiet_on_weights_that_move() -> None:
    assert not list(rule.check(made(0.02)))


def test_quiet_on_where_there_is_no_gradient_nothing_is_said() -> None:
    assert not list(rule.check(made(1e-4, norm=1e-7)))


def test_declines_on_what_came_out_of_a_file() -> None:
    with pytest.raises(NotEnough):
        list(rule.check(made(1e-4, notes=({"kind": "load", "what": "file"},))))
