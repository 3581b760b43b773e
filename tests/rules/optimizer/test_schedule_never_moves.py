import pytest

from rldebug.rules.optimizer.schedule_never_moves import ScheduleNeverMoves
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn, optim
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR, SequentialLR

"""


@pytest.mark.parametrize(
    "code",
    [
        """
def train(net, data):
    opt = optim.Adam(net.parameters())
    plan = CosineAnnealingLR(opt, 100)  # here
    for batch in data:
        net(batch).mean().backward()
        opt.step()
        print(plan.get_last_lr())
""",
        """
class Agent:
    def __init__(self, net):
        self.opt = optim.Adam(net.parameters())
        self.rates = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda n: 1 - n / 100)  # here

    def learn(self, loss):
        loss.backward()
        self.opt.step()
""",
    ],
)
def test_fires_where_nobody_moves_it(code):
    points_at(ScheduleNeverMoves(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "plan = StepLR(opt, 100)\nfor batch in data:\n    opt.step()\n    plan.step()",
        "def make(opt):\n    plan = StepLR(opt, 100)\n    return opt, plan",
        "one, two = StepLR(opt, 10), StepLR(opt, 20)\nplan = SequentialLR(opt, [one, two], [100])\nplan.step()",
        "class A:\n    def __init__(self, opt):\n        self.plan = StepLR(opt, 100)\na = A(opt)\na.plan.step()",
        "plan = StepLR(opt, 100)\ndef learn():\n    opt.step()\n    plan.step()",
        "plans = [StepLR(opt, 100)]\nfor each in plans:\n    each.step()",
    ],
)
def test_quiet_where_somebody_does(code):
    quiet(ScheduleNeverMoves(), text(HEAD + code))
