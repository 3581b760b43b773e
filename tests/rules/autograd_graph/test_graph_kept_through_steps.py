import pytest

from rldebug.rules.autograd_graph.graph_kept_through_steps import GraphKeptThroughSteps
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn, optim
from torch.distributions import Categorical

net = nn.Linear(4, 1)
opt = optim.Adam(net.parameters())
"""


@pytest.mark.parametrize(
    "code",
    [
        """
values = net(states).squeeze(-1)
for epoch in range(4):
    loss = (returns - values).pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)  # here
    opt.step()
""",
        """
class Agent:
    def __init__(self):
        self.policy = nn.Linear(4, 2)
        self.opt = optim.Adam(self.policy.parameters())

    def learn(self, states, actions, weight):
        score = Categorical(logits=self.policy(states)).log_prob(actions)
        for _ in range(10):
            for chosen in torch.randperm(len(states)).split(64):
                self.opt.zero_grad()
                (-(score[chosen] * weight[chosen]).mean()).backward(retain_graph=True)  # here
                self.opt.step()
""",
    ],
)
def test_fires_where_the_forward_pass_is_outside(code):
    points_at(GraphKeptThroughSteps(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "for e in range(4):\n    loss = net(x).mean()\n    loss.backward(retain_graph=True)\n    opt.step()",
        "y = net(x)\nfor e in range(4):\n    y[e].backward(retain_graph=True)\nopt.step()",
        "with torch.no_grad():\n    y = net(x)\nfor e in range(4):\n    loss = (net(x) - y).pow(2).mean()\n"
        "    loss.backward(retain_graph=True)\n    opt.step()",
        "y = net(x)\nfor e in range(4):\n    loss = y.mean()\n    loss.backward(retain_graph=False)\n    opt.step()",
        "for e in range(4):\n    y = net(x)\n    for part in y:\n        part.backward(retain_graph=True)\n"
        "    opt.step()",
    ],
)
def test_quiet_where_each_step_has_its_own_graph(code):
    quiet(GraphKeptThroughSteps(), text(HEAD + code))
