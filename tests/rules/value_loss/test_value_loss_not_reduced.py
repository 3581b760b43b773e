import torch
from torch import nn
from torch.nn import functional as F

from rldebug.rules.value_loss.value_loss_not_reduced import ValueLossNotReduced
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_reduction_is_left_out():
    def program():
        loss = F.mse_loss(nn.Linear(3, 1)(torch.zeros(5, 3)), torch.ones(5, 1), reduction="none")
        loss.backward()

    names(ValueLossNotReduced(), crashed(program))


def test_quiet_when_it_is_a_policy_loss():
    def program():
        loss = -nn.Linear(3, 2)(torch.zeros(5, 3)).log_softmax(-1)[:, 0]
        loss.backward()

    quiet(ValueLossNotReduced(), crashed(program))
