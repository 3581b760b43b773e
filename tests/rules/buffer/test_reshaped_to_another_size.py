import numpy as np
import torch

from rldebug.rules.buffer.reshaped_to_another_size import ReshapedToAnotherSize
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_last_rollout_is_shorter():
    def program():
        rewards = torch.zeros(30)
        return rewards.view(8, 4)

    names(ReshapedToAnotherSize(), crashed(program))


def test_fires_when_numpy_counts_otherwise():
    def program():
        obs = np.zeros(30)
        return obs.reshape(8, 4)

    names(ReshapedToAnotherSize(), crashed(program))


def test_quiet_when_axes_were_exchanged():
    quiet(ReshapedToAnotherSize(), crashed(lambda: torch.zeros(8, 4).t().view(-1)))
