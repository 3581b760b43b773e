import pytest

from rldebug.rules.optimizer.schedule_moves_first import ScheduleMovesFirst
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn, optim
from torch.optim.lr_scheduler import LinearLR, StepLR

net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
plan = StepLR(opt, 100)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
for batch in data:
    plan.step()  # here
    opt.zero_grad()
    net(batch).mean().backward()
    opt.step()
""",
        """
class Agent:
    def __init__(self):
        self.net = nn.Linear(2, 1)
        self.opt = optim.Adam(self.net.parameters())
        self.rates = optim.lr_scheduler.LambdaLR(self.opt, lambda n: 1 - n / 100)

    def learn(self, batch):
        self.opt.zero_grad()
        self.net(batch).mean().backward()
        self.rates.step()  # here
        self.opt.step()
""",
    ],
)
def test_fires_where_the_schedule_is_first(code):
    points_at(ScheduleMovesFirst(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "for batch in data:\n    net(batch).mean().backward()\n    opt.step()\n    plan.step()",
        "for epoch in range(9):\n    for batch in data:\n        net(batch).mean().backward()\n"
        "        opt.step()\n    plan.step()",
        "for epoch in range(9):\n    if epoch:\n        plan.step()\n    net(batch).mean().backward()\n    opt.step()",
        "other = optim.Adam(net.parameters())\nfor batch in data:\n    plan.step()\n    other.step()",
        "env.step(a)\nopt.step()",
    ],
)
def test_quiet_where_the_optimizer_is_first(code):
    quiet(ScheduleMovesFirst(), text(HEAD + code))
