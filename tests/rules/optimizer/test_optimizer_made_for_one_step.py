import pytest

from rldebug.rules.optimizer.optimizer_made_for_one_step import OptimizerMadeForOneStep
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import copy
import torch
from torch import nn, optim

"""


@pytest.mark.parametrize(
    "code",
    [
        """
net = nn.Linear(2, 2)
for batch in data:
    opt = optim.Adam(net.parameters(), lr=1e-3)  # here
    opt.zero_grad()
    net(batch).mean().backward()
    opt.step()
""",
        """
class Agent:
    def __init__(self):
        self.net = nn.Linear(2, 2)

    def learn(self, batch):
        optimizer = torch.optim.RMSprop(self.net.parameters())  # here
        loss = self.net(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

agent = Agent()
for step in range(1000):
    agent.learn(step)
""",
        """
def update(actor, critic, batch):
    opt = optim.SGD([*actor.parameters(), *critic.parameters()], lr=1e-2, momentum=0.9)  # here
    opt.zero_grad()
    (actor(batch) - critic(batch)).mean().backward()
    opt.step()

a, c = nn.Linear(2, 2), nn.Linear(2, 1)
while True:
    update(a, c, batch)
""",
    ],
)
def test_fires_where_the_state_is_lost(code):
    points_at(OptimizerMadeForOneStep(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
net = nn.Linear(2, 2)
opt = optim.Adam(net.parameters(), lr=1e-3)
for batch in data:
    opt.zero_grad()
    net(batch).mean().backward()
    opt.step()
""",
        """
for seed in range(5):
    net = nn.Linear(2, 2)
    opt = optim.Adam(net.parameters())
    net(batch).mean().backward()
    opt.step()
""",
        """
net = nn.Linear(2, 2)
for iteration in range(100):
    opt = optim.Adam(net.parameters())
    for batch in data:
        opt.zero_grad()
        net(batch).mean().backward()
        opt.step()
""",
        """
net = nn.Linear(2, 2)
for task in tasks:
    opt = optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad()
    net(task).mean().backward()
    opt.step()
""",
        """
def adapt(net, batch):
    clone = copy.deepcopy(net)
    opt = optim.Adam(clone.parameters())
    clone(batch).mean().backward()
    opt.step()
    return clone

net = nn.Linear(2, 2)
for task in tasks:
    adapt(net, task)
""",
        """
net = nn.Linear(2, 2)
for batch in data:
    opt = optim.Adam(net.parameters())
    opt.load_state_dict(kept)
    net(batch).mean().backward()
    opt.step()
    kept = opt.state_dict()
""",
    ],
)
def test_quiet_where_it_is_kept_or_has_none(code):
    quiet(OptimizerMadeForOneStep(), text(HEAD + code))
