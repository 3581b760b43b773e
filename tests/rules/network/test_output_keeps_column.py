import numpy as np
import torch
from torch import nn

from rldebug.rules.network.output_keeps_column import OutputKeepsColumn
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_value_is_stored_without_being_squeezed():
    def program():
        values = torch.zeros(16, 8)
        with torch.no_grad():
            values[0] = nn.Linear(3, 1)(torch.zeros(8, 3))

    names(OutputKeepsColumn(), crashed(program))


def test_fires_when_numpy_is_given_a_column():
    def program():
        values, value = np.zeros((16, 8)), np.zeros((8, 1))
        values[0] = value

    names(OutputKeepsColumn(), crashed(program))


def test_quiet_when_a_squeezed_column_has_another_length():
    def program():
        value, target = torch.zeros(32, 1), torch.zeros(64)
        return value.squeeze(1) - target

    quiet(OutputKeepsColumn(), crashed(program))


def test_quiet_when_the_lengths_differ():
    def program():
        values, value = np.zeros((16, 8)), np.zeros(7)
        values[0] = value

    quiet(OutputKeepsColumn(), crashed(program))
