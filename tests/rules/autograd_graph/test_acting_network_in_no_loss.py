"""A network that acts, and that no loss leads to."""

from typing import Any

from rldebug.rules.autograd_graph.acting_network_in_no_loss import ActingNetworkInNoLoss
from tests.programs import learning
from tests.programs.rounds import actor_critic
from tests.watched import findings

rule = ActingNetworkInNoLoss()


def made(reached: list[str], prints: str = "aaa") -> Any:
    audits: Any = [
        [
            ("call", {"module": "actor", "acting": True, "grad": False, "line": ["train.py", 4]}, {}),
            *[learning.loss(reached)] * 3,
            ("weights", {"module": "actor", "fingerprint": mark}, {}),
        ]
        for mark in prints
    ]
    modules = {"actor": learning.module({"adam": 4}, acting=9), "critic": learning.module({"adam": 4})}
    counts = {"all": {"updates": 300}}
    return learning.script(*audits, module=modules, optimizer={"adam": learning.optimizer({})}, counts=counts)


def test_fires_on_an_actor_that_no_loss_leads_to() -> None:
    (found,) = rule.check(made(["critic"]))
    assert "actor" in found.message


def test_fires_on_a_policy_loss_that_is_not_added() -> None:
    (found,) = findings(lambda: actor_critic("policy loss not added", rounds=8), rule.code)
    assert found.message == "no loss leads to policy, which acts"


def test_quiet_on_a_policy_loss_that_is() -> None:
    assert not findings(lambda: actor_critic(rounds=8), rule.code)


def test_quiet_on_an_actor_in_the_loss() -> None:
    assert not list(rule.check(made(["actor", "critic"])))


def test_quiet_on_an_actor_that_changes_is_trained_in_another_way() -> None:
    assert not list(rule.check(made(["critic"], "abc")))


def stepped(norm: float) -> Any:
    audits: Any = [
        [
            ("call", {"module": "actor", "acting": True, "grad": False, "line": ["train.py", 4]}, {}),
            *[learning.loss(["actor", "critic"])] * 3,
            *[("step", {"optimizer": "adam", "grad_norms": {"actor": norm, "critic": 1.0}}, {})] * 3,
            ("weights", {"module": "actor", "fingerprint": "a"}, {}),
        ]
        for _ in range(3)
    ]
    modules = {"actor": learning.module({"adam": 4}, acting=9), "critic": learning.module({"adam": 4})}
    optimizer = {"adam": learning.optimizer({})}
    return learning.script(*audits, module=modules, optimizer=optimizer, counts={"all": {"updates": 300}})


def test_fires_on_an_actor_whose_gradient_is_nil_as_under_an_entropy_of_weight_0() -> None:
    (found,) = rule.check(stepped(0.0))
    assert "exactly 0" in found.seen


def test_quiet_on_an_actor_with_a_gradient() -> None:
    assert not list(rule.check(stepped(1e-9)))
