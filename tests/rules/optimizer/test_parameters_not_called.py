import pytest

from rldebug.rules.optimizer.parameters_not_called import ParametersNotCalled
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import itertools
import torch
from torch import nn, optim

"""


@pytest.mark.parametrize(
    "code",
    [
        "net = nn.Linear(2, 2)\nopt = optim.Adam(net.parameters, lr=1e-3)  # here",
        """
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
        self.opt = torch.optim.Adam(params=self.parameters)  # here

    def clip(self):
        nn.utils.clip_grad_norm_(self.body.parameters, 0.5)  # here
""",
        "a, b = nn.Linear(2, 2), nn.Linear(2, 2)\n"
        "opt = optim.Adam(itertools.chain(a.parameters(), b.parameters))  # here",
    ],
)
def test_fires_where_the_parentheses_are_missing(code):
    finding = points_at(ParametersNotCalled(), HEAD + code)
    assert [each.text for each in finding.edits] == ["()"]


@pytest.mark.parametrize(
    "code",
    [
        "net = nn.Linear(2, 2)\nopt = optim.Adam(net.parameters(), lr=1e-3)",
        "class Box:\n    def __init__(self, given):\n        self.parameters = given\n"
        "        self.opt = optim.Adam(self.parameters)",
        "opt = optim.Adam(settings.parameters)",
        "class Net(nn.Module):\n    @property\n    def parameters(self):\n        return []\n"
        "opt = optim.Adam(Net().parameters)",
        "net = nn.Linear(2, 2)\nlisting = net.parameters\nopt = optim.Adam(listing())",
    ],
)
def test_quiet_where_they_are_called_or_no_method(code):
    quiet(ParametersNotCalled(), text(HEAD + code))
