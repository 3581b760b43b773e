import pytest

from rldebug.rules.autograd_graph.weights_changed_under_graph import WeightsChangedUnderGraph
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn

net, target = nn.Linear(4, 1), nn.Linear(4, 1)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
for old, new in zip(target.parameters(), net.parameters()):
    old.mul_(0.99).add_(0.01 * new)  # here
""",
        """
def descend(model, rate):
    for p in model.parameters():
        p -= rate * p.grad  # here

descend(net, 0.1)
""",
        """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)
        self.head.weight.mul_(0.01)  # here
        nn.init.zeros_(self.head.bias)
""",
    ],
)
def test_fires_where_gradients_are_on(code):
    points_at(WeightsChangedUnderGraph(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "with torch.no_grad():\n    for p in net.parameters():\n        p.mul_(0.9)",
        "for p in net.parameters():\n    p.data.mul_(0.9)\n    p.grad.zero_()",
        "for p in target.parameters():\n    p.requires_grad = False\n    p.mul_(0.9)",
        "def blend(a, b):\n    for p, q in zip(a.parameters(), b.parameters()):\n        p.copy_(q)\n"
        "with torch.no_grad():\n    blend(net, target)",
        "def blend(a, b):\n    for p, q in zip(a.parameters(), b.parameters()):\n        p.copy_(q)",
        "total = 0\nfor p in net.parameters():\n    total += p.sum()",
        "net.weight.data.fill_(0)\nnn.init.constant_(net.bias, 0.0)",
    ],
)
def test_quiet_where_they_are_off_or_may_be(code):
    quiet(WeightsChangedUnderGraph(), text(HEAD + code))
