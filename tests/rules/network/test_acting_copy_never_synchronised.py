"""A copy that acts and never learns."""

from typing import Any

from rldebug.rules.network.acting_copy_never_synchronised import ActingCopyNeverSynchronised
from tests.programs import learning
from tests.programs.rounds import actor_critic
from tests.watched import findings

rule = ActingCopyNeverSynchronised()


def made(prints: str = "aaa", learner_acts: bool = False, copies: int = 1) -> Any:
    audits: Any = []
    for number, mark in enumerate(prints):
        acting: Any = {"grad": False, "acting": True, "line": ["train.py", 4]}
        far: Any = {"distance": {"net": 0.3}}
        events: Any = [
            ("call", {"module": "copy", **acting}, {"rows": []}),
            learning.loss(["net"]),
            learning.term("policy", ["net"], weight=[1.0, 2.0]),
            ("weights", {"module": "copy", "fingerprint": mark, **far}, {}),
            ("weights", {"module": "net", "fingerprint": str(number), "distance": {"copy": 0.3}}, {}),
        ]
        audits.append([("call", {"module": "net", **acting}, {"rows": []}), *events] if learner_acts else events)
    modules = {"copy": learning.module({}), "net": learning.module({"adam": 4})}
    copied = {"copy": {"module": "copy", "times": copies}}
    return learning.script(*audits, module=modules, copy=copied)


def test_fires_on_a_copy_that_is_never_filled_again() -> None:
    (found,) = rule.check(made())
    assert "copy acts" in found.message


def test_fires_on_a_copy_made_once_before_training() -> None:
    (found,) = findings(lambda: actor_critic("copy acts", rounds=20, lanes=4, horizon=4), rule.code)
    assert found.message == "actor acts and never changes, while policy learns"


def test_quiet_on_a_copy_that_is_filled_each_round() -> None:
    assert not findings(lambda: actor_critic("copy acts, filled each round", rounds=20, lanes=4, horizon=4), rule.code)


def test_quiet_on_a_copy_that_is_filled_after_updates() -> None:
    assert not list(rule.check(made("abc", copies=3)))
    assert not list(rule.check(made("aaa", copies=2)))


def test_quiet_on_a_fixed_opponent_beside_the_learner() -> None:
    assert not list(rule.check(made(learner_acts=True)))
