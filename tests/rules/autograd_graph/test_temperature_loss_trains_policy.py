"""The log-prob in the loss of the temperature."""

from typing import Any

from rldebug.rules.autograd_graph.temperature_loss_trains_policy import TemperatureLossTrainsPolicy
from tests.programs import learning
from tests.watched import findings

rule = TemperatureLossTrainsPolicy()


def test_fires_on_a_log_prob_that_is_not_detached() -> None:
    (found,) = findings(lambda: learning.actor_critic("attached"), rule.code)
    assert found.component == "autograd-graph"


def test_quiet_on_a_detached_log_prob() -> None:
    _, script = learning.seen("actor_critic")
    assert not list(rule.check(script))


def test_quiet_on_gradients_that_are_cleared_in_between_do_no_harm() -> None:
    logp: Any = {"op": "logp"}
    events: Any = [
        *(learning.zero("alpha"), learning.loss(["policy"])),
        learning.term("output", ["policy"], -0.2, **logp, **{"sides": {"weight": []}}),
        *(learning.step("alpha", {}), learning.zero("adam"), learning.loss(["policy"], 2)),
        *(learning.term("output", ["policy"], 0.2, **logp), learning.step("adam", {"policy": 1.0})),
    ]
    things: Any = {"adam": learning.optimizer({"policy": 4}), "alpha": learning.optimizer({})}
    assert not list(rule.check(learning.script(events * 6, optimizer=things)))
