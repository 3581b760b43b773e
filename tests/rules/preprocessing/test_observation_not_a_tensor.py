import numpy as np
import torch
from torch import nn

from rldebug.rules.preprocessing.observation_not_a_tensor import ObservationNotATensor
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_network_is_fed_an_array():
    names(ObservationNotATensor(), crashed(lambda: nn.Linear(4, 2)(np.zeros((3, 4), np.float32))))


def test_fires_when_a_dict_is_to_become_a_tensor():
    names(ObservationNotATensor(), crashed(lambda: torch.as_tensor({"position": 1.0})))


def test_quiet_when_what_reset_returns_is_fed():
    quiet(ObservationNotATensor(), crashed(lambda: nn.Linear(4, 2)((np.zeros(4), {}))))
