import pytest

from rldebug.rules.value_loss.target_not_cut_off import TargetNotCutOff
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
q = nn.Linear(4, 2)
frozen = copy.deepcopy(q)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
target = r + 0.99 * (1 - d) * q(s2).max(1)[0]  # here
loss = F.mse_loss(q(s).gather(1, a).squeeze(1), target)
""",
        """
class Critic:
    def __init__(self):
        self.v = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        self.error = nn.SmoothL1Loss()

    def goal(self, reward, after):
        following = self.v(after)  # here
        return reward + self.gamma * following

    def update(self, obs, reward, after):
        return self.error(self.v(obs), self.goal(reward, after))
""",
        """
value = q(s)
after = q(s2)  # here
delta = r + gamma * after * going_on - value
loss = delta.pow(2).mean()
""",
    ],
)
def test_fires_where_both_sides_are_live(code):
    points_at(TargetNotCutOff(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "with torch.no_grad():\n    y = r + 0.99 * q(s2).max(1)[0]\nloss = F.mse_loss(q(s), y)",
        "y = r + 0.99 * q(s2).max(1)[0]\nloss = F.mse_loss(q(s), y.detach())",
        "y = r + 0.99 * q(s2).max(1)[0].detach()\nloss = (q(s) - y).pow(2).mean()",
        "y = r + 0.99 * frozen(s2).max(1)[0]\nloss = F.mse_loss(q(s), y)",
        "y = r + 0.99 * frozen(s2).gather(1, q(s2).argmax(1, keepdim=True))\nloss = F.mse_loss(q(s), y)",
        "loss = F.mse_loss(q(s), q(other))",
        """
@torch.no_grad()
def goal(r, s2):
    return r + 0.99 * q(s2)
loss = F.mse_loss(q(s), goal(r, s2))
""",
    ],
)
def test_quiet_about_targets_that_are_constants(code):
    quiet(TargetNotCutOff(), text(_HEAD + code))
