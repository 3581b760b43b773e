import torch
from torch import nn

from rldebug.rules.autograd_graph.leaf_changed_in_place import LeafChangedInPlace
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_target_is_moved_with_gradients_on():
    def program():
        online, target = nn.Linear(2, 2), nn.Linear(2, 2)
        for p, q in zip(target.parameters(), online.parameters(), strict=True):
            p += 0.1 * (q - p)

    names(LeafChangedInPlace(), crashed(program))


def test_quiet_when_the_shapes_differ():
    def program():
        with torch.no_grad():
            nn.Linear(2, 3).weight.copy_(torch.zeros(4, 2))

    quiet(LeafChangedInPlace(), crashed(program))
