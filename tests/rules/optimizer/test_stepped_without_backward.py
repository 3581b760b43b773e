import pytest

from rldebug.rules.optimizer.stepped_without_backward import SteppedWithoutBackward
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn, optim

net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
"""


@pytest.mark.parametrize(
    "code",
    [
        """
for batch in data:
    loss = net(batch).mean()
    opt.zero_grad()
    opt.step()  # here
""",
        """
class Agent:
    def __init__(self):
        self.net = nn.Linear(2, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def learn(self, batch):
        self.opt.zero_grad()
        loss = self.net(batch).pow(2).mean()
        self.opt.step()  # here
        return loss.item()
""",
    ],
)
def test_fires_where_nobody_makes_gradients(code):
    points_at(SteppedWithoutBackward(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "opt.zero_grad()\nnet(x).mean().backward()\nopt.step()",
        "opt.zero_grad()\nfor p in net.parameters():\n    p.grad = torch.randn_like(p)\nopt.step()",
        "opt.zero_grad()\nfabric.backward(net(x).mean())\nopt.step()",
        "opt.zero_grad()\nminimise(net(x).mean(), opt)\nopt.step()",
        "opt.step()",
    ],
)
def test_quiet_where_gradients_may_come_from_elsewhere(code):
    quiet(SteppedWithoutBackward(), text(HEAD + code))
