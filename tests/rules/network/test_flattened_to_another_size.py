import torch
from torch import nn

from rldebug.rules.network.flattened_to_another_size import FlattenedToAnotherSize
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Net(nn.Module):
    def __init__(self, work):
        super().__init__()
        self.layer, self.work = nn.Linear(3, 4), work

    def forward(self, obs, other):
        return self.work(self.layer(obs), other)


def test_fires_when_the_size_is_fixed():
    names(FlattenedToAnotherSize(), crashed(lambda: Net(lambda obs, other: obs.view(5, 6))(torch.zeros(5, 3), None)))


def test_quiet_when_it_is_a_rollout():
    quiet(FlattenedToAnotherSize(), crashed(lambda: torch.zeros(12).view(5, 2)))
