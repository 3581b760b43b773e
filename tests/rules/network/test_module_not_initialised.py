import pytest

from rldebug.rules.network.module_not_initialised import ModuleNotInitialised
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
import torch.nn as nn

"""


@pytest.mark.parametrize(
    "code",
    [
        """
class Policy(nn.Module):
    def __init__(self, width):
        self.width = width
        self.body = nn.Linear(4, width)  # here
        super().__init__()
""",
        """
class Policy(torch.nn.Module):
    def __init__(self):
        self.scale = nn.Parameter(torch.zeros(1))  # here

    def forward(self, x):
        return x * self.scale
""",
    ],
)
def test_fires_where_a_layer_comes_too_early(code):
    points_at(ModuleNotInitialised(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = nn.Linear(2, 2)",
        "class A(nn.Module):\n    def __init__(self):\n        super(A, self).__init__()\n"
        "        self.body = nn.Linear(2, 2)",
        "class A(nn.Module):\n    def __init__(self):\n        nn.Module.__init__(self)\n"
        "        self.body = nn.Linear(2, 2)",
        "class A(nn.Module):\n    def __init__(self, n):\n        self.n = n\n        super().__init__()\n"
        "        self.body = nn.Linear(n, 2)",
        "class A:\n    def __init__(self):\n        self.body = nn.Linear(2, 2)",
        "class A(Base, nn.Module):\n    def __init__(self):\n        self.body = nn.Linear(2, 2)",
    ],
)
def test_quiet_where_it_is_initialised_first(code):
    quiet(ModuleNotInitialised(), text(HEAD + code))
