import pytest

from rldebug.rules.network.two_layers_without_activation import TwoLayersWithoutActivation
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F

"""


@pytest.mark.parametrize(
    "code",
    [
        """
net = nn.Sequential(
    nn.Linear(4, 64),
    nn.Tanh(),
    nn.Linear(64, 64),
    nn.Linear(64, 2),  # here
)
""",
        """
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(4, 64)
        self.two = nn.Linear(64, 64)
        self.out = nn.Linear(64, 1)

    def forward(self, x):
        x = F.relu(self.one(x))
        x = self.two(x)
        return self.out(x)  # here
""",
    ],
)
def test_fires_where_the_activation_is_missing(code):
    points_at(TwoLayersWithoutActivation(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))",
        "nn.Sequential(nn.Linear(64, 4, bias=False), nn.Linear(4, 64))",
        "nn.Sequential(nn.Linear(64, 4), nn.Linear(4, 64))",
        "nn.Sequential(nn.Linear(4, 64), nn.LayerNorm(64), nn.Linear(64, 2))",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.mean, self.std = nn.Linear(4, 64), nn.Linear(64, 2), nn.Linear(64, 2)

    def forward(self, x):
        h = torch.relu(self.one(x))
        return self.mean(h), self.std(h)
""",
        """
class Net(nn.Module):
    def __init__(self, squash):
        super().__init__()
        self.one, self.two = nn.Linear(4, 64), nn.Linear(64, 2)
        self.squash = squash

    def forward(self, x):
        x = self.one(x)
        if self.squash:
            x = torch.tanh(x)
        return self.two(x)
""",
    ],
)
def test_quiet_where_there_is_one_or_none_is_meant(code):
    quiet(TwoLayersWithoutActivation(), text(HEAD + code))
