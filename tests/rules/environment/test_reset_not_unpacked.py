import gymnasium as gym
import numpy as np
import torch
from torch import nn

from rldebug.rules.environment.reset_not_unpacked import ResetNotUnpacked
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_what_reset_returns_is_fed_to_the_network():
    def program():
        obs = gym.make("CartPole-v1").reset(seed=0)
        return nn.Linear(4, 2)(obs)

    names(ResetNotUnpacked(), crashed(program))


def test_fires_when_it_is_turned_into_a_tensor():
    def program():
        state = gym.make("CartPole-v1").reset(seed=0)
        return torch.tensor(np.array(state, dtype=np.float32))

    names(ResetNotUnpacked(), crashed(program))


def test_quiet_when_an_array_is_fed():
    quiet(ResetNotUnpacked(), crashed(lambda: nn.Linear(4, 2)(np.zeros(4, np.float32))))
