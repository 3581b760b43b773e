"""An optimizer of a network that is gone."""

from typing import Any

import pytest

from rldebug.forensics import ownership
from rldebug.forensics.roles import Roles
from rldebug.rules.optimizer.optimizer_holds_other_parameters import OptimizerHoldsOtherParameters
from tests.programs import learning
from tests.watched import findings

rule = OptimizerHoldsOtherParameters()


def test_fires_on_a_network_made_after_its_optimizer() -> None:
    (found,) = findings(lambda: learning.regression("made anew later"), rule.code)
    assert found.severity == "error"


def test_quiet_on_an_optimizer_of_the_network_that_learns() -> None:
    _, script = learning.seen("regression")
    assert not list(rule.check(script))


def test_quiet_on_a_temperature_that_is_kept_fixed() -> None:
    events: Any = [learning.loss(["net"]), learning.step("adam", {"net": 1.0}), learning.step("alpha", {}, without=4)]
    things: Any = {
        "module": {"net": learning.module({"adam": 4})},
        "optimizer": {"adam": learning.optimizer({"net": 4}), "alpha": learning.optimizer({})},
    }
    assert not list(rule.check(learning.script(events * 5, events * 5, **things)))


def exchanged(without: int) -> Any:
    """A network and its copy; the optimizer was made of the copy."""
    events: Any = [
        learning.loss(["net"]),
        learning.step("adam", {}, without=without),
        ("weights", {"module": "net", "fingerprint": "a", "trained": False, "by_hand": 0}, {}),
    ]
    things: Any = {
        "module": {"net": learning.module({}), "copy": learning.module({"adam": 4})},
        "optimizer": {"adam": learning.optimizer({"copy": 4})},
    }
    return learning.script(events * 4, events * 4, **things)


def test_fires_on_an_optimizer_of_the_target_network(monkeypatch: pytest.MonkeyPatch) -> None:
    # Who is whose target is told by who is stepped: so the network that learns is taken for the target.
    monkeypatch.setattr(ownership, "roles_of", lambda script: Roles(targets=(("net", "copy"),)))
    assert "net" in Roles(targets=(("net", "copy"),)).target_names
    assert [each.message for each in rule.check(exchanged(4))] == [
        "optimizer adam does not hold the network that learns"
    ]
    assert not list(rule.check(exchanged(0)))


def stacked(strays: int, **more: Any) -> Any:
    """Losses that lead to tensors of no network, and an optimizer of the networks they were stacked from."""
    loss = learning.loss([])
    term: Any = ("term", {"kind": "policy", "reached": [], "strays": strays, "rows": 8}, {})
    events: Any = [loss, term, learning.step("adam", {}, without=4, change=0.0, **more)]
    things: Any = {"module": {}, "optimizer": {"adam": learning.optimizer({})}}
    return learning.script(events * 4, events * 4, **things)


def test_fires_on_an_optimizer_of_what_the_stacked_weights_were_copied_from() -> None:
    (found,) = rule.check(stacked(4))
    assert "holds nothing that a loss leads to" in found.message
    assert not list(rule.check(stacked(0)))
