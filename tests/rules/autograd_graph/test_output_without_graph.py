from functools import cache

import torch
from torch import nn

from rldebug.rules.autograd_graph.output_without_graph import OutputWithoutGraph
from tests.judge import fires, not_enough, quiet
from tests.programs.data import Drift, tensor
from tests.watched import watched

rule = OutputWithoutGraph()


class Encoder(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.layer, self.how = nn.Linear(3, 8), how

    def forward(self, obs):
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.how != "no graph"):
            return torch.tanh(self.layer(obs))


@cache
def seen(how="", updates=30):
    """A value is regressed on rewards, through an encoder that is called apart from the head."""

    def program():
        torch.manual_seed(0)
        env = Drift()
        encoder, head = Encoder(how), nn.Linear(8, 1)
        if how == "frozen":
            encoder.requires_grad_(False)
        learned = [*head.parameters()] if how == "not held" else [*encoder.parameters(), *head.parameters()]
        optimizer = torch.optim.SGD(learned, lr=1e-2)
        obs, _ = env.reset()
        for _ in range(updates):
            rows, rewards = [], []
            for _ in range(8):
                rows.append(tensor(obs))
                obs, reward, ended, cut, _ = env.step(0)
                rewards.append(float(reward))
                obs = env.reset()[0] if ended or cut else obs
            hidden = encoder(torch.stack(rows))
            value = head(hidden.detach() if how == "not held" else hidden).squeeze(-1)
            loss = (value - torch.tensor(rewards)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return watched(program)[1]


def test_fires_where_the_forward_cuts_the_graph():
    found = fires(rule, seen("no graph"))
    assert found.component == "autograd-graph"
    assert "encoder" in found.message


def test_quiet_where_it_is_trained():
    quiet(rule, seen())


def test_quiet_where_it_is_frozen_or_held_by_nobody():
    quiet(rule, seen("frozen"))
    quiet(rule, seen("not held"))


def test_declines_without_a_loss():
    not_enough(rule, seen(updates=0))
