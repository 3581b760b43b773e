import torch
from torch import nn

from rldebug.rules.network.crash_in_network import CrashInNetwork
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 8)

    def forward(self, obs):
        return self.heads(self.trunk(obs))


def test_fires_when_a_layer_was_never_made():
    names(CrashInNetwork(), crashed(lambda: Net()(torch.zeros(5, 4))))


def test_quiet_when_a_rule_knows_the_error():
    quiet(CrashInNetwork(), crashed(lambda: nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 1))(torch.zeros(2, 4))))
