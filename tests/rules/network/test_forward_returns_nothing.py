import pytest

from rldebug.rules.network.forward_returns_nothing import ForwardReturnsNothing
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
import torch.nn as nn

class Base(nn.Module):
    pass

"""


@pytest.mark.parametrize(
    "code",
    [
        """
class Policy(nn.Module):
    def forward(self, x):
        x = torch.relu(self.body(x))
        x = self.head(x)  # here
""",
        """
class Critic(Base):
    def forward(self, state, action):
        both = torch.cat([state, action], dim=-1)
        value = self.net(both).squeeze(-1)  # here
""",
    ],
)
def test_fires_where_the_result_is_thrown_away(code):
    points_at(ForwardReturnsNothing(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "class A(nn.Module):\n    def forward(self, x):\n        x = self.body(x)\n        return x",
        "class A(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError",
        "class A(nn.Module):\n    def forward(self, x):\n        ...",
        "class A(nn.Module):\n    def forward(self, x):\n        self.mean = x.mean()",
        "class A(nn.Module):\n    def forward(self, data):\n        data['q'] = self.body(data['x'])",
        "class A:\n    def forward(self, x):\n        y = x + 1",
        "class A(nn.Module):\n    def forward(self, x):\n        if x is None:\n            return x\n        y = x",
    ],
)
def test_quiet_where_something_is_returned_or_kept(code):
    quiet(ForwardReturnsNothing(), text(HEAD + code))
