import torch
from torch import nn

from rldebug.rules.checkpoint.optimizer_state_differs import OptimizerStateDiffers
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_state_is_of_two_networks():
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    saved = torch.optim.Adam([*one.parameters(), *two.parameters()]).state_dict()
    names(OptimizerStateDiffers(), crashed(lambda: torch.optim.Adam(one.parameters()).load_state_dict(saved)))


def test_quiet_when_it_is_the_network_that_differs():
    quiet(OptimizerStateDiffers(), crashed(lambda: nn.Linear(2, 3).load_state_dict(nn.Linear(2, 4).state_dict())))
