import pytest

from rldebug.rules.optimizer.gradients_never_cleared import GradientsNeverCleared
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn, optim

"""


@pytest.mark.parametrize(
    "code",
    [
        """
nets = {"a": nn.Linear(2, 2), "b": nn.Linear(2, 1)}
left, right = nn.Linear(2, 2), nn.Linear(2, 1)
steppers = [optim.SGD(left.parameters(), lr=0.1), optim.Adam(right.parameters())]
for rows in data:
    (left(rows).mean() + right(rows).mean()).backward()
    for stepper in steppers:
        stepper.step()  # here
""",
        """
def learner(first, second):
    every = list(first.parameters()) + list(second.parameters())
    every = list(every)
    sgd = optim.SGD(every, lr=0.1)
    adam = optim.Adam(first.parameters())

    def update(rows):
        adam.zero_grad()
        cost = first(rows).mean()
        cost.backward()
        sgd.step()  # here
        adam.step()

    return update
""",
        """
net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
for batch in data:
    loss = net(batch).mean()
    loss.backward()
    opt.step()  # here
""",
        """
class Agent:
    def __init__(self, actor, critic):
        self.actor, self.critic = nn.Linear(2, 2), nn.Linear(2, 1)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def learn(self, batch):
        self.actor_opt.zero_grad()
        self.actor(batch).mean().backward()
        self.actor_opt.step()
        self.critic(batch).mean().backward()
        self.critic_opt.step()  # here
""",
    ],
)
def test_fires_where_nobody_clears(code):
    points_at(GradientsNeverCleared(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
for batch in data:
    opt.zero_grad(set_to_none=True)
    net(batch).mean().backward()
    opt.step()
""",
        """
net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
net.zero_grad()
net(batch).mean().backward()
opt.step()
""",
        """
net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
for p in net.parameters():
    p.grad = None
net(batch).mean().backward()
opt.step()
""",
        """
def train(net, optimizer, batch):
    optimizer.zero_grad()
    net(batch).mean().backward()
    optimizer.step()

net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
train(net, opt, batch)
opt.step()
""",
        """
net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
for each in (opt,):
    each.zero_grad()
net(batch).mean().backward()
opt.step()
""",
        """
net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters())
opt.step()
""",
    ],
)
def test_quiet_where_somebody_does(code):
    quiet(GradientsNeverCleared(), text(HEAD + code))
