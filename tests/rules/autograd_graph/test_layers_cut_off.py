"""Layers that feed others, cut off from the loss."""

import torch
from torch import nn

from rldebug.rules.autograd_graph.layers_cut_off import LayersCutOff
from tests.judge import fires, quiet
from tests.programs.worlds import Line
from tests.watched import watched

rule = LayersCutOff()


class Two(nn.Module):
    """A trunk and a head that are asked one after the other; what goes from one to the other may lose its graph."""

    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.trunk = nn.Sequential(nn.Linear(2, 16), nn.Tanh())
        self.head = nn.Sequential(nn.Linear(16, 2))

    def logits(self, obs):
        seen = self.trunk(obs)
        return self.head(seen.detach() if self.fault == "detached" else seen)


def program(fault=""):
    torch.manual_seed(0)
    env, net = Line(), Two(fault)
    if fault == "frozen":
        net.trunk.requires_grad_(False)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    obs, _ = env.reset(seed=0)
    for _ in range(40):
        rows, actions, rewards = [], [], []
        for _ in range(8):
            with torch.no_grad():
                logits = net.logits(torch.as_tensor(obs, dtype=torch.float32)[None])
            dist = torch.distributions.Categorical(logits=logits)
            action = dist.sample()
            rows.append(torch.as_tensor(obs, dtype=torch.float32))
            actions.append(action)
            obs, reward, terminated, truncated, _ = env.step(int(action))
            rewards.append(float(reward))
            if terminated or truncated:
                obs, _ = env.reset()
        logp = torch.distributions.Categorical(logits=net.logits(torch.stack(rows))).log_prob(torch.cat(actions))
        loss = -(logp * torch.tensor(rewards)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def seen(fault=""):
    return watched(lambda: program(fault), overhead_budget=10.0)[1]


def test_fires_where_the_trunk_is_detached():
    found = fires(rule, seen("detached"))
    assert "feeds" in found.message


def test_quiet_where_the_graph_goes_through():
    quiet(rule, seen())


def test_quiet_where_the_trunk_is_frozen():
    quiet(rule, seen("frozen"))
