import pytest

from rldebug.rules.network.layers_in_a_plain_list import LayersInAPlainList
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn

"""


@pytest.mark.parametrize(
    "code",
    [
        """
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

class Eyes(BaseFeaturesExtractor):
    def __init__(self, space):
        super().__init__(space, 16)
        self.views = {name: nn.Linear(box.shape[0], 16) for name, box in space.spaces.items()}  # here

    def forward(self, seen):
        return sum(view(seen[name]) for name, view in self.views.items())
""",
        """
class Critics(nn.Module):
    def __init__(self, size, count):
        super().__init__()
        self.heads = [nn.Linear(size, 1) for _ in range(count)]  # here

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)
""",
        """
class Deep(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = []  # here
        for before, after in zip(widths, widths[1:]):
            self.layers.append(nn.Linear(before, after))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)
""",
        """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x):
        return x + self.inner(x)


class Policy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.parts = {"body": Block(width), "mean": nn.Sequential(nn.Tanh(), nn.Linear(width, 2))}  # here

    def forward(self, x):
        return self.parts["mean"](self.parts["body"](x))
""",
    ],
)
def test_fires_where_layers_are_hidden(code):
    points_at(LayersInAPlainList(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
class Critics(nn.Module):
    def __init__(self, size, count):
        super().__init__()
        self.heads = nn.ModuleList([nn.Linear(size, 1) for _ in range(count)])
""",
        """
class Deep(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = []
        for before, after in zip(widths, widths[1:]):
            self.layers.append(nn.Linear(before, after))
        print(len(self.layers))
        self.body = nn.Sequential(*self.layers)
""",
        """
class Shapes(nn.Module):
    def __init__(self):
        super().__init__()
        self.squash = [nn.ReLU(), nn.Tanh()]
        self.body = nn.Linear(2, 2)
""",
        """
class Learner(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.net = nn.Linear(size, size)
        self.frozen = [nn.Linear(size, size)]
""",
        """
class Ensemble:
    def __init__(self, size):
        self.members = [nn.Linear(size, 1) for _ in range(5)]
        self.adam = torch.optim.Adam([p for each in self.members for p in each.parameters()])
""",
        """
class Deep(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = [nn.Linear(before, after) for before, after in zip(widths, widths[1:])]
        for place, layer in enumerate(self.layers):
            self.add_module(f"layer{place}", layer)
""",
        """
class Ensemble(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.members = [nn.Linear(size, 1) for _ in range(5)]

net = Ensemble(3)
adam = torch.optim.Adam([p for each in net.members for p in each.parameters()])
""",
    ],
)
def test_quiet_where_somebody_holds_them(code):
    quiet(LayersInAPlainList(), text(HEAD + code))
