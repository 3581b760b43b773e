"""A network that was frozen by mistake."""

from typing import Any

import pytest
import torch
from torch import nn

from rldebug.rules.network.network_frozen import NetworkFrozen
from tests.programs import learning
from tests.watched import findings

rule = NetworkFrozen()


def test_fires_on_a_frozen_network_in_an_optimizer() -> None:
    (found,) = findings(lambda: learning.pair("frozen"), rule.code)
    assert "Layers" in found.message


def test_quiet_on_a_network_that_learns() -> None:
    _, script = learning.seen("pair")
    assert not list(rule.check(script))


def test_quiet_on_a_frozen_target_in_no_optimizer() -> None:
    weights: Any = ("weights", {"module": "target", "fingerprint": "a"}, {})
    modules = {"target": learning.module({}, trainable=0)}
    made = learning.script([weights], [weights], module=modules, optimizer={"adam": learning.optimizer({"net": 4})})
    assert not list(rule.check(made))


class Halves(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.head = nn.Sequential(nn.Linear(4, 12), nn.Tanh()), nn.Linear(12, 1)

    def forward(self, rows: Any) -> Any:
        return self.head(self.encoder(rows))


def halves(how: str) -> None:
    """Trained as a whole, then its head alone; or with features that are at random, or another's, from the first."""
    torch.manual_seed(0)
    net, steps = Halves(), {"first whole": 40, "whole in one optimizer": 40}.get(how, 0)
    if how == "given":
        net.encoder.load_state_dict(Halves().encoder.state_dict())
    every = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(160):
        rows = torch.randn(16, 4)
        if step == steps:
            net.encoder.requires_grad_(False)
            every = every if how == "whole in one optimizer" or not steps else torch.optim.Adam(net.head.parameters())
        said = net(rows) if step < steps else net.head(net.encoder(rows))
        loss = (said - rows[:, :1]).pow(2).mean()
        every.zero_grad()
        loss.backward()
        every.step()


@pytest.mark.parametrize("how", ["first whole", "whole in one optimizer", "given", "at random"])
def test_quiet_on_features_that_are_frozen_on_purpose(how: str) -> None:
    assert not findings(lambda: halves(how), rule.code)


def doubted() -> None:
    """A random prior that is added to what is learned, and left in the optimizer."""
    torch.manual_seed(0)
    learned, prior = nn.Linear(4, 1), nn.Linear(4, 1).requires_grad_(False)
    every = torch.optim.Adam([*learned.parameters(), *prior.parameters()], lr=1e-3)
    for _ in range(120):
        rows = torch.randn(16, 4)
        loss = (learned(rows) + 0.5 * prior(rows) - rows[:, :1]).pow(2).mean()
        every.zero_grad()
        loss.backward()
        every.step()


def test_a_note_on_what_is_frozen_beside_what_learns() -> None:
    assert {each.severity for each in findings(doubted, rule.code)} == {"note"}
