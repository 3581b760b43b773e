import torch
from torch import nn

from rldebug.rules.network.parts_joined_differ import PartsJoinedDiffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Net(nn.Module):
    def __init__(self, work):
        super().__init__()
        self.layer, self.work = nn.Linear(3, 4), work

    def forward(self, obs, other):
        return self.work(self.layer(obs), other)


def test_fires_when_observation_and_action_differ_in_their_batch():
    names(
        PartsJoinedDiffer(),
        crashed(lambda: Net(lambda obs, action: torch.cat([obs, action], -1))(torch.zeros(5, 3), torch.zeros(4, 2))),
    )


def test_quiet_when_it_is_a_buffer_that_joins():
    quiet(PartsJoinedDiffer(), crashed(lambda: torch.cat([torch.zeros(5, 3), torch.zeros(4, 2)], 1)))
