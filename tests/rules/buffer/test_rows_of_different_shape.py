import numpy as np
import torch
from torch import nn

from rldebug.rules.buffer.rows_of_different_shape import RowsOfDifferentShape
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_episodes_of_different_length_are_stacked():
    def program():
        episodes = [torch.zeros(3), torch.zeros(4)]
        return torch.stack(episodes)

    names(RowsOfDifferentShape(), crashed(program))


def test_fires_when_scalars_are_concatenated():
    names(RowsOfDifferentShape(), crashed(lambda: torch.cat([torch.zeros(()), torch.zeros(())])))


def test_fires_when_an_array_is_made_of_rows_of_different_length():
    names(RowsOfDifferentShape(), crashed(lambda: np.array([np.zeros(3), np.zeros(4)])))


def test_quiet_when_it_happens_inside_a_network():
    class Net(nn.Module):
        def forward(self, obs, action):
            return torch.cat([obs, action], -1)

    quiet(RowsOfDifferentShape(), crashed(lambda: Net()(torch.zeros(3, 2), torch.zeros(4, 2))))
