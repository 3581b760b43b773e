import torch
from torch import nn

from rldebug.rules.network.shapes_inside_network_differ import ShapesInsideNetworkDiffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Net(nn.Module):
    def __init__(self, work):
        super().__init__()
        self.layer, self.work = nn.Linear(3, 4), work

    def forward(self, obs, other):
        return self.work(self.layer(obs), other)


def test_fires_when_two_branches_have_other_widths():
    names(
        ShapesInsideNetworkDiffer(),
        crashed(lambda: Net(lambda obs, skip: obs + skip)(torch.zeros(5, 3), torch.zeros(5, 2))),
    )


def test_fires_when_keys_are_not_transposed():
    names(ShapesInsideNetworkDiffer(), crashed(lambda: torch.bmm(torch.zeros(5, 2, 3), torch.zeros(5, 2, 3))))


def test_quiet_when_a_layer_has_another_width():
    quiet(
        ShapesInsideNetworkDiffer(),
        crashed(lambda: Net(lambda obs, other: obs + other)(torch.zeros(5, 2), torch.zeros(5, 4))),
    )
