import torch
from torch import nn

from rldebug.rules.optimizer.optimizer_given_no_parameters import OptimizerGivenNoParameters
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2)]


def test_fires_when_layers_are_kept_in_a_list():
    names(OptimizerGivenNoParameters(), crashed(lambda: torch.optim.Adam(Net().parameters())))


def test_fires_when_a_parameter_is_not_a_leaf():
    names(OptimizerGivenNoParameters(), crashed(lambda: torch.optim.Adam([torch.zeros(1, requires_grad=True).exp()])))


def test_quiet_when_a_setting_is_wrong():
    quiet(OptimizerGivenNoParameters(), crashed(lambda: torch.optim.Adam(nn.Linear(2, 2).parameters(), lr=-1.0)))
