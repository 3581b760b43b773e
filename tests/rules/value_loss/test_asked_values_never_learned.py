import gymnasium
import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.rules.value_loss.asked_values_never_learned import AskedValuesNeverLearned
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line
from tests.watched import watched

rule = AskedValuesNeverLearned()


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2, 16), nn.Tanh())
        self.choice, self.worth = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, rows):
        hidden = self.trunk(rows)
        return Categorical(logits=self.choice(hidden)), self.worth(hidden)[:, 0]

    def value(self, rows):
        return self.worth(self.trunk(rows))[:, 0]


def train(way, rounds=6, steps=24):
    """An actor-critic with one trunk. `way`: what becomes of the values that it learns from."""
    torch.manual_seed(0)
    env = gymnasium.wrappers.TimeLimit(Line(), 30)
    net = Both()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    obs, _ = env.reset(seed=0)
    for _ in range(rounds):
        rows, chosen, paid, worth = [], [], [], []
        for _ in range(steps):
            with torch.no_grad():
                dist, value = net(torch.as_tensor(obs)[None])
            action = int(dist.sample())
            rows.append(obs), chosen.append(action), worth.append(float(value))
            obs, reward, terminated, truncated, _ = env.step(action)
            paid.append(float(reward) + (0.0 if terminated or way == "unused" else 0.9 * ask(net, obs)))
            if terminated or truncated:
                obs, _ = env.reset()
        seen, target = torch.as_tensor(np.stack(rows)), torch.tensor(paid)
        for _ in range(4):
            dist, value = net(seen)
            kept = {"detached": value.detach(), "stored": torch.tensor(worth)}.get(way, value)
            gain = target if way == "unused" else target - value.detach()
            loss = -(dist.log_prob(torch.tensor(chosen)) * gain).mean()
            if way != "unused":
                loss = loss + 0.5 * (kept - target).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def ask(net, obs):
    with torch.no_grad():
        return float(net.value(torch.as_tensor(obs)[None]))


def seen(way, **options):
    return watched(lambda: train(way, **options))[1]


@pytest.mark.parametrize("way", ["detached", "stored"])
def test_fires_where_the_value_loss_has_no_graph(way):
    found = fires(rule, seen(way))
    assert found.component == "value-loss"
    assert found.message.startswith("worth is asked for values")


def test_quiet_where_it_has():
    quiet(rule, seen("graph"))


def test_quiet_on_a_head_that_nobody_asks():
    quiet(rule, seen("unused"))


def test_not_enough_losses():
    assert "losses" in not_enough(rule, seen("detached", rounds=1))
