import torch
from torch import nn

from rldebug.rules.network.hidden_state_unfit import HiddenStateUnfit
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_state_has_another_batch():
    names(HiddenStateUnfit(), crashed(lambda: nn.GRU(2, 3)(torch.zeros(7, 4, 2), torch.zeros(1, 8, 3))))


def test_quiet_when_the_input_is_too_wide():
    quiet(HiddenStateUnfit(), crashed(lambda: nn.GRU(2, 3)(torch.zeros(7, 4, 5))))
