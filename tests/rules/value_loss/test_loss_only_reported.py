import pytest

from rldebug.rules.value_loss.loss_only_reported import LossOnlyReported
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
net = nn.Linear(4, 2)
critic = nn.Linear(4, 1)
opt = torch.optim.Adam(list(net.parameters()) + list(critic.parameters()))
"""


@pytest.mark.parametrize(
    "code",
    [
        """
def update(obs, act, ret):
    policy_loss = -(logp(obs, act) * ret).mean()
    value_loss = F.mse_loss(critic(obs), ret)  # here
    opt.zero_grad()
    policy_loss.backward()
    opt.step()
    return policy_loss.item(), value_loss.item()
""",
        """
for obs, ret in batches:
    fit = (critic(obs) - ret).pow(2).mean()  # here
    loss = -net(obs).mean()
    loss.backward()
    opt.step()
    print(f"{loss.item()} {fit.item()}")
""",
    ],
)
def test_fires_where_a_loss_reaches_no_backward(code):
    points_at(LossOnlyReported(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "v = F.mse_loss(critic(o), r)\nloss = -net(o).mean() + 0.5 * v\nloss.backward()",
        "v = F.mse_loss(critic(o), r)\nv.backward()",
        "with torch.no_grad():\n    v = F.mse_loss(critic(o), r)\n(-net(o).mean()).backward()\nprint(v.item())",
        "def measure(o, r):\n    v = F.mse_loss(critic(o), r)\n    return v.item()",
        "def f(o, r):\n    v = F.mse_loss(critic(o), r)\n    loss = -net(o).mean()\n    loss.backward()\n    return v",
        "losses = []\nv = F.mse_loss(critic(o), r)\nlosses.append(v)\nsum(losses).backward()",
        "other = nn.Linear(4, 1)\nv = F.mse_loss(other(o), r)\nloss = -net(o).mean()\nloss.backward()\nprint(v.item())",
    ],
)
def test_quiet_about_losses_that_are_used(code):
    quiet(LossOnlyReported(), text(_HEAD + code))
