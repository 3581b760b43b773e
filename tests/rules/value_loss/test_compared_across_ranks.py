import pytest

from rldebug.rules.value_loss.compared_across_ranks import ComparedAcrossRanks
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
q, slow = nn.Linear(4, 2), nn.Linear(4, 2)
critic = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

class Value(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 1)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))

value = Value()
"""


@pytest.mark.parametrize(
    "code",
    [
        """
BATCH = 32
ahead = torch.zeros(BATCH)
ahead[going] = slow(after).max(1)[0]
close = nn.SmoothL1Loss()
loss = close(q(s).gather(1, a), 0.99 * ahead + paid)  # here
""",
        """
def sound(layer, gain=1.0):
    nn.init.orthogonal_(layer.weight, gain)
    return layer

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.judge = nn.Sequential(sound(nn.Linear(4, 9)), nn.Tanh(), sound(nn.Linear(9, 1)))
        self.head = nn.Linear(4, 2)
    def both(self, x):
        return self.head(x), self.judge(x)

pair = Pair()
flat = back.reshape(-1)
for picked in parts:
    logits, worth = pair.both(rows[picked])
    loss = (worth - flat[picked]).pow(2).mean()  # here
""",
        """
judge = nn.Sequential(nn.Linear(4, 9), nn.Tanh(), nn.Linear(9, 1))
back, out = 0.0, []
for paid in reversed(gains):
    back = paid + 0.9 * back
    out.insert(0, back)
better = torch.tensor(out) - judge(rows)  # here
""",
        """
with torch.no_grad():
    y = r + 0.99 * (1 - d) * slow(s2).max(1)[0]
loss = F.mse_loss(q(s).gather(1, a.unsqueeze(1)), y)  # here
""",
        """
out, g = [], 0.0
for r in reversed(rewards):
    g = r + 0.99 * g
    out.insert(0, g)
returns = torch.tensor(out)
loss = (value(states) - returns).pow(2).mean()  # here
""",
        """
class Agent:
    def loss(self, batch):
        goal = batch.rew + self.gamma * critic(batch.nxt).squeeze(1)
        return ((critic(batch.obs) - goal.detach()) ** 2).mean()  # here
""",
        "best = torch.max(slow(s2), dim=1).values\nloss = F.smooth_l1_loss(q(s).gather(1, a), r + best)  # here",
    ],
)
def test_fires_where_a_column_meets_a_row(code):
    points_at(ComparedAcrossRanks(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "judge = nn.Linear(4, 1)\nbetter = rows.view(-1)[:, None] - judge(x)\nall_pairs = x.view(-1) - y.unsqueeze(1)",
        "judge = nn.Linear(4, 1)\nbetter = y.view(-1) - judge(x).squeeze(-1)\nworse = torch.zeros(size) - judge(x)",
        "y = r + 0.99 * slow(s2).max(1)[0]\nloss = F.mse_loss(q(s).gather(1, a).squeeze(1), y)",
        "y = r + 0.99 * slow(s2).max(1, keepdim=True)[0]\nloss = F.mse_loss(q(s).gather(1, a), y)",
        "y = r + 0.99 * slow(s2).max(1)[0].unsqueeze(1)\nloss = F.mse_loss(q(s).gather(1, a), y)",
        "loss = F.mse_loss(value(s).squeeze(-1), torch.tensor(returns))",
        "loss = F.mse_loss(value(s), returns)",
        "loss = F.mse_loss(value(s).view(-1), r + 0.99 * value(s2).view(-1))",
        "y = r + 0.99 * slow(s2).max(1)[0]\nloss = F.mse_loss(q(s).gather(1, a), y.view(-1, 1))",
        "y = r + 0.99 * slow(s2).max(1)[0]\nloss = F.mse_loss(q(s).gather(1, a)[:, 0], y)",
        "loss = (critic(s) - critic(s2).detach()).pow(2).mean()",
    ],
)
def test_quiet_about_equal_shapes_and_unknown_ones(code):
    quiet(ComparedAcrossRanks(), text(_HEAD + code))
