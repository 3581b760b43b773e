import pytest

from rldebug.rules.network.softmax_axis_left_open import SoftmaxAxisLeftOpen
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.functional import log_softmax

"""


@pytest.mark.parametrize(
    "code",
    [
        "def act(net, x):\n    return torch.multinomial(F.softmax(net(x)), 1)  # here",
        "actor = nn.Sequential(nn.Linear(4, 2), nn.Softmax())  # here",
        "class A(nn.Module):\n    def forward(self, x):\n"
        "        return log_softmax(self.body(x), dtype=torch.float32)  # here",
    ],
)
def test_fires_where_pytorch_guesses(code):
    points_at(SoftmaxAxisLeftOpen(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "F.softmax(x, dim=-1)",
        "F.softmax(x, 1)",
        "nn.Softmax(dim=1)",
        "nn.LogSoftmax(-1)",
        "torch.softmax(x, 0)",
        "x.softmax(-1)",
        "F.log_softmax(x, **options)",
        "F.log_softmax(*given)",
        "softmax(x)",
    ],
)
def test_quiet_where_it_is_told(code):
    quiet(SoftmaxAxisLeftOpen(), text(HEAD + code))
