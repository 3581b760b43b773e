import pytest

from rldebug.syntax.heads import last_operations
from tests.syntax.snippets import asked, text

_HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F

plain = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).to("cpu")
soft = nn.Sequential(nn.Linear(3, 2), nn.Softmax(dim=-1))

class Policy(nn.Module):
    def __init__(self, squash):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.ReLU())
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = self.body(x)
        return self.head(x)

class Sure(Policy):
    def forward(self, x):
        return F.softmax(self.head(self.body(x)), dim=-1)

class Either(Policy):
    def forward(self, x):
        if x.ndim == 1:
            return torch.sigmoid(x)
        return self.head(x)
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("plain(x)  # ask", {"linear"}),
        ("soft(x).squeeze(0)  # ask", {"softmax"}),
        ("Policy(1)(x)  # ask", {"linear"}),
        ("net = Sure(1)\ny = net(x)\ny  # ask", {"softmax"}),
        ("Either(1)(x)  # ask", {"sigmoid", "linear"}),
        ("y = plain(x)\ny = y.softmax(-1)\ny  # ask", {"softmax"}),
        ("torch.exp(plain(x))  # ask", {"exp"}),
        ("plain(x) * 2  # ask", {"arithmetic"}),
        ("unknown(x)  # ask", {"?"}),
        ("a, b = plain(x)\na  # ask", {"?"}),
        ("def act(x):\n    return plain(x)\nact(o)  # ask", {"linear"}),
    ],
)
def test_the_last_operation(code, expected):
    source = text(_HEAD + code)
    assert last_operations(source, asked(source)) == expected
