import pytest

from rldebug.syntax.ranks import rank
from tests.syntax.snippets import asked, text

_HEAD = """
import torch
from torch import nn
q = nn.Linear(4, 2)
v = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("q(s).gather(1, a)", 2),
        ("q(s).gather(1, a).squeeze(1)", 1),
        ("q(s).max(1)[0]", 1),
        ("torch.max(q(s), dim=1).values", 1),
        ("q(s).max(dim=1, keepdim=True).values", 2),
        ("v(s)", 2),
        ("v(s).squeeze(-1)", 1),
        ("v(s)[:, 0]", 1),
        ("v(s).view(-1)", 1),
        ("x.view(-1, 1)", 2),
        ("r + 0.99 * q(s).max(1)[0]", 1),
        ("q(s)", None),
        ("x", None),
    ],
)
def test_the_axes_of_a_tensor(code, expected):
    source = text(f"{_HEAD}\n{code}  # ask")
    assert rank(source, asked(source)) == expected
