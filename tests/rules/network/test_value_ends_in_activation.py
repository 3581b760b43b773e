import pytest

from rldebug.rules.network.value_ends_in_activation import ValueEndsInActivation
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F

plain = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
"""


@pytest.mark.parametrize(
    "code",
    [
        """
critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1), nn.Tanh())  # here

def learn(s, r, n, d):
    with torch.no_grad():
        goal = r + 0.99 * (1 - d) * critic(n).squeeze(-1)
    loss = F.mse_loss(critic(s).squeeze(-1), goal)
    loss.backward()
""",
        """
class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 64), nn.Linear(64, 2)

    def forward(self, x):
        return F.relu(self.two(F.relu(self.one(x))))  # here

class Agent:
    def __init__(self):
        self.q, self.slow = Q(), Q()

    def learn(self, s, a, r, n, d):
        with torch.no_grad():
            goal = r + 0.99 * (1 - d) * self.slow(n).gather(1, a)
        got = self.q(s).gather(1, a)
        loss = (got - goal).pow(2).mean()
        loss.backward()
""",
    ],
)
def test_fires_where_values_are_bounded(code):
    points_at(ValueEndsInActivation(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "goal = r + 0.99 * plain(n)\nloss = F.mse_loss(plain(s), goal)",
        "actor = nn.Sequential(nn.Linear(4, 2), nn.Tanh())\nloss = F.mse_loss(actor(s), expert_actions)",
        "actor = nn.Sequential(nn.Linear(4, 2), nn.Tanh())\nloss = -plain(torch.cat([s, actor(s)])).mean()",
        "q = nn.Sequential(nn.Linear(4, 2), nn.Tanh(), nn.Linear(2, 2))\ngoal = r + 0.9 * q(n).max(1).values\n"
        "loss = F.smooth_l1_loss(q(s).gather(1, a), goal)",
        "model = nn.Sequential(nn.Linear(4, 2), nn.Sigmoid())\nloss = F.mse_loss(model(s), pictures + 0.1 * noise)",
    ],
)
def test_quiet_where_they_are_free_or_no_values(code):
    quiet(ValueEndsInActivation(), text(HEAD + code))
