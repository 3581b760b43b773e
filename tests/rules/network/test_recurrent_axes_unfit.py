import torch
from torch import nn

from rldebug.rules.network.recurrent_axes_unfit import RecurrentAxesUnfit
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_one_observation_is_fed():
    names(RecurrentAxesUnfit(), crashed(lambda: nn.GRU(3, 4)(torch.zeros(3))))


def test_quiet_when_its_width_differs():
    quiet(RecurrentAxesUnfit(), crashed(lambda: nn.GRU(3, 4)(torch.zeros(1, 5, 2))))
