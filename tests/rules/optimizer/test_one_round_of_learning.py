"""One rollout, one update, and the end."""

from typing import Any

import pytest

from rldebug.forensics.roles import Roles
from rldebug.rule import NotEnough
from rldebug.rules.optimizer import one_round_of_learning
from rldebug.rules.optimizer.one_round_of_learning import OneRoundOfLearning
from tests.programs import learning
from tests.programs.rounds import actor_critic
from tests.watched import findings

rule = OneRoundOfLearning()


def made(monkeypatch: pytest.MonkeyPatch, phases: int, on_policy: bool = True) -> Any:
    known = Roles(policy=frozenset({"net"}), stream=0, on_policy=on_policy)
    monkeypatch.setattr(one_round_of_learning, "roles_of", lambda script: known)
    events: Any = [learning.loss(["net"]), learning.term("policy", ["net"], weight=[1.0, -1.0])]
    counts = {"all": {"updates": 80, "env_steps": 8192, "phases": phases}}
    return learning.script(events, counts=counts, stream={"0": {"index": 0, "steps": 8192, "phases": phases}})


def test_fires_on_a_single_rollout() -> None:
    (found,) = findings(lambda: actor_critic(rounds=1, lanes=64, horizon=64, epochs=2), rule.code)
    assert "4096 steps in the environment before the first of 2 updates" in found.seen


def test_quiet_on_two_rollouts() -> None:
    assert not findings(lambda: actor_critic(rounds=2, lanes=64, horizon=64, epochs=1), rule.code)


def test_quiet_on_many_rollouts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not list(rule.check(made(monkeypatch, 16)))


def test_declines_on_learning_from_a_fixed_set_of_data(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotEnough):
        list(rule.check(made(monkeypatch, 1, on_policy=False)))
