import pytest

from rldebug.rules.optimizer.step_never_called import StepNeverCalled
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
    opt.zero_grad()  # here
    net(batch).mean().backward()
""",
        """
class Agent:
    def __init__(self):
        self.actor, self.critic = nn.Linear(2, 2), nn.Linear(2, 1)
        self.actor_opt = torch.optim.Adam(self.actor.parameters())
        self.critic_opt = torch.optim.Adam(self.critic.parameters())

    def learn(self, batch):
        self.critic_opt.zero_grad()  # here
        self.critic(batch).mean().backward()
        self.actor_opt.step()
        self.actor_opt.zero_grad()
        self.actor(batch).mean().backward()
        self.actor_opt.step()
""",
    ],
)
def test_fires_where_nobody_steps(code):
    points_at(StepNeverCalled(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "opt.zero_grad()\nnet(x).mean().backward()\nopt.step()",
        "opt.zero_grad()\nscaler.scale(net(x).mean()).backward()\nscaler.step(opt)",
        "opt.zero_grad()\nnet(x).mean().backward()\nfor each in (opt,):\n    each.step()",
        "class A:\n    def __init__(self):\n        self.adam = optim.Adam(net.parameters())\n"
        "    def clear(self):\n        self.adam.zero_grad()\n"
        "a = A()\nloss.backward()\na.adam.step()",
        "net(x).mean().backward()",
        "opt.zero_grad()\nnet(x).mean().backward()\noptimizers[0].step()",
    ],
)
def test_quiet_where_somebody_may(code):
    quiet(StepNeverCalled(), text(HEAD + code))
