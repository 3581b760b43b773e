"""Weights that stay where they were."""

from dataclasses import replace
from typing import Any

import numpy as np
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


def by_ratio(furthest: float) -> Any:
    weights: Any = ("weights", {"module": "net", "change": 0.02, "since": 100, "trained": True}, {})
    ratio = {"ratio": np.linspace(1.0 - furthest, 1.0 + furthest, 8)}
    term: Any = ("term", {"kind": "policy", "reached": ["net"]}, ratio)
    events: Any = [*[learning.step("sgd", {"net": 1.0})] * 4, *[term] * 6, weights]
    things: Any = {"module": {"net": learning.module({"sgd": 4})}, "optimizer": {"sgd": learning.optimizer({"net": 4})}}
    return learning.script(events, events, events, **things)


def test_fires_on_a_policy_that_no_rollout_moves() -> None:
    (found,) = rule.check(by_ratio(6e-4))
    assert "no action became more likely by 0.06%" in found.seen


def test_quiet_on_a_policy_that_moves() -> None:
    assert not list(rule.check(by_ratio(0.02)))
    assert not list(rule.check(by_ratio(0.0)))


def test_fires_where_what_is_read_after_the_last_step_is_only_tried_out() -> None:
    counts = {"counts": {"all": {"updates": 300}}}
    late = replace(made(1e-4), notes=({"kind": "load", "what": "file", "update": 300},))
    late = replace(late, things={**late.things, **counts})
    assert len(list(rule.check(late))) == 1
    early = replace(late, notes=({"kind": "load", "what": "file", "update": 10},))
    with pytest.raises(NotEnough):
        list(rule.check(early))
