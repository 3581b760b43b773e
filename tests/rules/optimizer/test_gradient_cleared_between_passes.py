"""Gradients cleared too often."""

from typing import Any

from rldebug.rules.optimizer.gradient_cleared_between_passes import GradientClearedBetweenPasses
from tests.programs import learning
from tests.watched import findings

rule = GradientClearedBetweenPasses()


def test_fires_on_clearing_in_the_loop_over_parts() -> None:
    (found,) = findings(lambda: learning.regression("cleared in parts"), rule.code)
    assert "between the passes" in found.message


def test_fires_on_clearing_just_before_the_step() -> None:
    (found,) = findings(lambda: learning.regression("cleared before step"), rule.code)
    assert "before the step" in found.message


def test_quiet_on_accumulation_over_parts() -> None:
    _, script = learning.seen("regression", "parts")
    assert not list(rule.check(script))


def test_quiet_on_the_actors_gradient_in_the_critic_may_be_cleared() -> None:
    """A helper runs both losses from one line: the actor's goes through the critic, and is cleared there."""
    actor, critic = learning.optimizer({"actor": 4}), learning.optimizer({"critic": 4})
    events: Any = [
        *(learning.zero("actor"), learning.loss(["actor", "critic"]), learning.step("actor", {"actor": 1.0})),
        *(learning.zero("critic"), learning.loss(["critic"]), learning.step("critic", {"critic": 1.0})),
    ]
    assert not list(rule.check(learning.script(events * 8, optimizer={"actor": actor, "critic": critic})))


def test_fires_where_audits_begin_after_the_first_clearing() -> None:
    part: Any = [learning.zero("net"), learning.loss(["net"])]
    update = [*part, *part, learning.step("net", {"net": 1.0})]
    made = learning.script(*[[*update[1:], *update]] * 4, optimizer={"net": learning.optimizer({"net": 4})})
    (found,) = rule.check(made)
    assert "between the passes" in found.message
