import pytest

from rldebug.rules.optimizer.parameters_listed_twice import ParametersListedTwice
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import itertools
import torch
from torch import nn, optim

class Head(nn.Module):
    def __init__(self, trunk, outputs):
        super().__init__()
        self.trunk = trunk
        self.out = nn.Linear(64, outputs)

class Width(nn.Module):
    def __init__(self, like, outputs):
        super().__init__()
        self.out = nn.Linear(like.out_features, outputs)

"""


@pytest.mark.parametrize(
    "code",
    [
        """
actor, critic = nn.Linear(2, 2), nn.Linear(2, 1)
opt = optim.Adam(list(actor.parameters()) + list(actor.parameters()), lr=1e-3)  # here
""",
        """
class Agent:
    def __init__(self, net):
        self.net = net
        params = itertools.chain(self.net.parameters(), self.net.trunk.parameters())
        self.opt = optim.RMSprop(params)  # here
""",
        """
trunk = nn.Linear(4, 64)
actor = Head(trunk, 2)
critic = Head(trunk, outputs=1)
opt = optim.Adam([*actor.parameters(), *critic.parameters()])  # here
""",
        """
body = nn.Sequential(nn.Linear(4, 64), nn.Tanh())
pi = nn.Sequential(body, nn.Linear(64, 2))
v = nn.Sequential(body, nn.Linear(64, 1))
opt = optim.Adam([{"params": pi.parameters(), "lr": 1e-4}, {"params": v.parameters()}], lr=1e-3)  # here
""",
    ],
)
def test_fires_where_one_network_comes_twice(code):
    points_at(ParametersListedTwice(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "actor, critic = nn.Linear(2, 2), nn.Linear(2, 1)\n"
        "opt = optim.Adam(list(actor.parameters()) + list(critic.parameters()))",
        "trunk = nn.Linear(4, 64)\nactor = Head(trunk, 2)\ncritic = Head(trunk, 1)\n"
        "opt = optim.Adam(set(actor.parameters()) | set(critic.parameters()))",
        "trunk = nn.Linear(4, 64)\nactor = Head(trunk, 2)\ncritic = Head(trunk, 1)\n"
        "opt = optim.Adam([*actor.parameters(), *critic.out.parameters()])",
        "trunk = nn.Linear(4, 64)\nactor = Width(trunk, 2)\ncritic = Width(trunk, 1)\n"
        "opt = optim.Adam([*actor.parameters(), *critic.parameters()])",
        "net = Head(nn.Linear(4, 64), 2)\nopt = optim.Adam([*net.trunk.parameters(), *net.out.parameters()])",
    ],
)
def test_quiet_where_each_comes_once(code):
    quiet(ParametersListedTwice(), text(HEAD + code))
