import torch
from torch import nn

from rldebug.rules.network.crash_in_network import CrashInNetwork
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.sizes = nn.Linear(4, 8), {}

    def forward(self, obs):
        return self.trunk(obs)[:, : self.sizes["policy"]]


def test_fires_when_its_forward_raises():
    names(CrashInNetwork(), crashed(lambda: Net()(torch.zeros(5, 4))))


def test_quiet_when_a_rule_knows_the_error():
    quiet(CrashInNetwork(), crashed(lambda: nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 1))(torch.zeros(2, 4))))
