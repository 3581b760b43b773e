import pytest

from rldebug.rules.discounting.own_value_added import OwnValueAdded
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
net = nn.Linear(4, 2)
slow = nn.Linear(4, 2)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
for t in reversed(range(n)):
    delta = rewards[t] + gamma * values[t] * (1 - ends[t]) - values[t]  # here
""",
        """
def update(obs, act, rew, nxt, end):
    with torch.no_grad():
        y = rew + 0.99 * (1 - end) * slow(obs).max(1)[0]  # here
    return F.mse_loss(net(obs).gather(1, act), y)
""",
        """
class Agent:
    def loss(self, batch):
        here = net(batch.obs)
        there = slow(batch.obs).detach()  # here
        goal = batch.rew + self.gamma * there
        return (here - goal).pow(2).mean()
""",
    ],
)
def test_fires_where_a_state_is_its_own_future(code):
    points_at(OwnValueAdded(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "for t in range(n):\n    delta = r[t] + gamma * v[t + 1] * (1 - d[t]) - v[t]",
        "y = r + 0.99 * slow(s2).max(1)[0]\nloss = F.mse_loss(net(s), y.detach())",
        "loss = F.mse_loss(net(s), slow(s).detach())",
        "loss = F.mse_loss(net(s)[0][:, :-1], r + 0.99 * slow(s)[0][:, 1:].max(2).values.detach())",
        "y = r + 0.99 * torch.roll(slow(s), -1, 0)\nloss = F.mse_loss(net(s), y.detach())",
        "later = torch.cat([slow(s)[1:], torch.zeros(1)])\nloss = F.mse_loss(net(s), (r + 0.99 * later).detach())",
        """
obs = start
here = net(obs)
obs = after
y = r + 0.99 * slow(obs)
loss = F.mse_loss(here, y.detach())
""",
        """
class Agent(nn.Module):
    def __init__(self):
        self.critic, self.actor = nn.Linear(4, 1), nn.Linear(4, 2)
    def act(self, x):
        p = torch.distributions.Categorical(logits=self.actor(x))
        return p.sample(), self.critic(x)
agent = Agent()
a, v = agent.act(obs)
y = r + 0.99 * v * (1 - end)
a, guess = agent.act(before)
loss = F.mse_loss(guess, y.detach())
""",
        """
for _ in range(9):
    for r, d in zip(reversed(R), reversed(D)): g = r + 0.99 * g * (1 - d); y.append(g)
    d = torch.distributions.Categorical(logits=net(obs)); v = slow(obs)
    loss = (torch.cat(y) - v).square().mean()
""",
        """
paid = F.log_softmax(slow(s) / 0.03, 1).gather(1, a)
y = r + 0.9 * (0.03 * paid).clamp(-1, 0) + 0.99 * (F.softmax(slow(s2) / 0.03, 1) * slow(s2)).sum(1)
loss = F.mse_loss(net(s), y.detach())
""",
        "x = a[i] + 0.5 * b[i] - c[i]",
        "x = 2 * v[i] - v[i]",
    ],
)
def test_quiet_about_the_next_state(code):
    quiet(OwnValueAdded(), text(_HEAD + code))
