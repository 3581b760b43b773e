import pytest

from rldebug.rules.optimizer.network_replaced_after_optimizer import NetworkReplacedAfterOptimizer
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import copy
import torch
from torch import nn, optim

class Net(nn.Module):
    def __init__(self, inner=None):
        super().__init__()
        self.body = nn.Linear(2, 2)

"""


@pytest.mark.parametrize(
    "code",
    [
        """
net = Net()
opt = optim.Adam(net.parameters())
net = Net()  # here
for batch in data:
    opt.zero_grad()
    net(batch).mean().backward()
    opt.step()
""",
        """
class Agent:
    def __init__(self):
        self.net = Net()
        self.opt = torch.optim.Adam(self.net.parameters())
        self.net.body = nn.Linear(2, 5)  # here

    def learn(self, batch):
        self.opt.zero_grad()
        self.net(batch).mean().backward()
        self.opt.step()
""",
        """
actor = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
adam = optim.Adam(actor.parameters())
actor = copy.deepcopy(actor)  # here
actor(x).mean().backward()
adam.step()
""",
    ],
)
def test_fires_where_the_old_one_is_held(code):
    points_at(NetworkReplacedAfterOptimizer(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "net = Net()\nopt = optim.Adam(net.parameters())\nnet = net.to(device)\nopt.step()",
        "net = Net()\nopt = optim.Adam(net.parameters())\nnet = torch.compile(net)\nopt.step()",
        "net = Net()\nopt = optim.Adam(net.parameters())\nnet = Net(net)\nopt.step()",
        "net = Net()\nopt = optim.Adam(net.parameters())\nopt.step()\nnet = Net()\nopt = optim.Adam(net.parameters())"
        "\nopt.step()",
        "net = Net()\nopt = optim.Adam(net.parameters())\nopt.step()\nnet = Net()\nnet.load_state_dict(best)",
        "net = Net()\nopt = optim.Adam(net.parameters())\ntarget = Net()\nopt.step()",
        "net = Net()\nopt = optim.Adam(net.parameters())\nnet.body.weight.data.zero_()\n"
        "net.squash = nn.Tanh()\nopt.step()",
    ],
)
def test_quiet_where_the_parameters_stay(code):
    quiet(NetworkReplacedAfterOptimizer(), text(HEAD + code))
