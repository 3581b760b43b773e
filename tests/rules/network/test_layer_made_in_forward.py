import pytest

from rldebug.rules.network.layer_made_in_forward import LayerMadeInForward
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
import torch.nn as nn
from torch.nn import Linear

"""


@pytest.mark.parametrize(
    "code",
    [
        """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 64)

    def forward(self, x):
        x = torch.relu(self.body(x))
        return nn.Linear(64, 2)(x)  # here
""",
        """
class Encoder(nn.Module):
    def forward(self, x):
        head = Linear(x.shape[-1], 8).to(x.device)  # here
        x = nn.LayerNorm(x.shape[1:])(x)  # here
        return head(x)
""",
        """
class Agent(nn.Module):
    def value(self, x):
        return nn.Linear(64, 1).to(x.device)(x)  # here
""",
    ],
)
def test_fires_where_weights_are_new_at_every_call(code):
    points_at(LayerMadeInForward(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 2)

    def forward(self, x):
        return nn.Softmax(dim=-1)(nn.ReLU()(self.head(x)))
""",
        """
class Lazy(nn.Module):
    def forward(self, x):
        if self.head is None:
            self.head = nn.Linear(x.shape[-1], 2).to(x.device)
        return self.head(x)
""",
        """
class Lazy(nn.Module):
    def forward(self, x):
        if not self.heads:
            self.heads.append(nn.Linear(x.shape[-1], 2))
            tail = nn.Linear(2, 2)
            self.tail = tail
        return self.tail(self.heads[0](x))
""",
        """
class Net(nn.Module):
    def build(self, width):
        layer = nn.Linear(width, width)
        return layer
""",
        """
def forward(x):
    return nn.Linear(3, 4)(x)
""",
    ],
)
def test_quiet_where_layers_are_kept(code):
    quiet(LayerMadeInForward(), text(HEAD + code))
