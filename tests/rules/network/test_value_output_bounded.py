"""Values that are squashed."""

from typing import Any

import numpy as np
import pytest

from rldebug.rules.network.value_output_bounded import ValueOutputBounded
from tests.programs import learning
from tests.programs.rounds import values
from tests.watched import findings

rule = ValueOutputBounded()


def made(outputs: np.ndarray, targets: np.ndarray) -> Any:
    chosen = outputs[:, 0]
    call: Any = ("call", {"module": "q", "outputs": [{"shape": list(outputs.shape)}]}, {"output0": outputs})
    events: Any = [call, learning.loss(["q"]), learning.term("regression", ["q"], prediction=chosen, target=targets)]
    return learning.script(events, events, events, module={"q": learning.module({"adam": 4})})


def test_fires_on_a_softmax_at_the_end_of_a_q_network() -> None:
    draw = np.random.default_rng(0)
    outputs = draw.dirichlet([1, 1, 1], 64)
    (found,) = rule.check(made(outputs, draw.uniform(5, 20, 64)))
    assert "sums to 1" in found.seen


def test_fires_on_a_tanh_that_sticks_at_its_bound() -> None:
    draw = np.random.default_rng(0)
    (found,) = rule.check(made(np.tanh(draw.uniform(4, 9, (64, 1))), draw.uniform(5, 20, 64)))
    assert "stick" in found.seen


def test_fires_on_a_network_that_is_called_in_parts() -> None:
    draw = np.random.default_rng(0)
    sides = {"prediction": np.tanh(draw.uniform(4, 9, 64)), "target": draw.uniform(5, 20, 64)}
    parts = ["head", "trunk"]
    events: Any = [learning.loss(parts), learning.term("regression", parts, **sides)]
    modules = {each: learning.module({"adam": 2}) for each in parts}
    (found,) = rule.check(learning.script(events, events, events, module=modules))
    assert found.message.startswith("head and trunk cannot")


@pytest.mark.parametrize(("last", "seen"), [("softmax", "sums to 1"), ("tanh", "stick")])
def test_fires_on_a_program_that_bounds_its_values(last: str, seen: str) -> None:
    (found,) = findings(lambda: values(last), rule.code)
    assert seen in found.seen


def test_quiet_on_a_program_that_does_not() -> None:
    assert not findings(values, rule.code)


def test_quiet_on_values_that_have_not_grown_yet() -> None:
    draw = np.random.default_rng(0)
    assert not list(rule.check(made(draw.uniform(-0.3, 0.3, (64, 3)), draw.uniform(5, 20, 64))))


def test_quiet_on_a_bound_that_the_targets_respect() -> None:
    draw = np.random.default_rng(0)
    assert not list(rule.check(made(np.tanh(draw.uniform(4, 9, (64, 1))), draw.uniform(-1, 1, 64))))


def test_quiet_on_probabilities_beside_a_value() -> None:
    draw = np.random.default_rng(0)
    probabilities, targets = draw.dirichlet([1, 1, 1], 64), draw.uniform(5, 20, 64)
    call: Any = (
        "call",
        {"module": "net", "outputs": [{"shape": [64, 3]}, {"shape": [64]}]},
        {"output0": probabilities},
    )
    values = learning.term("regression", ["net"], prediction=draw.uniform(0, 1, 64), target=targets)
    events: Any = [call, learning.loss(["net"]), values]
    assert not list(rule.check(learning.script(events, events, events, module={"net": learning.module({"adam": 4})})))
