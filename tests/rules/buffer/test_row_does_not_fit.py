import numpy as np
import torch

from rldebug.rules.buffer.row_does_not_fit import RowDoesNotFit
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Memory:
    def __init__(self, wide):
        self.obs, self.next_obs, self.at = np.zeros((50, wide)), np.zeros((50, wide)), 0

    def add(self, obs, next_obs):
        self.obs[self.at] = obs
        self.next_obs[self.at] = next_obs
        self.at += 1


def test_fires_when_the_rows_are_wider_than_the_memory():
    names(RowDoesNotFit(), crashed(lambda: Memory(4).add(np.zeros(5), np.zeros(5))))


def test_fires_when_a_tensor_is_written_to():
    def program():
        storage = torch.zeros(16, 3)
        storage[0] = torch.zeros(4)

    names(RowDoesNotFit(), crashed(program))


def test_quiet_when_the_rows_fit():
    quiet(RowDoesNotFit(), crashed(lambda: Memory(4).add(np.zeros(4), None.shape)))
