import pytest

from rldebug.rules.normalisation.statistics_not_a_buffer import StatisticsNotABuffer
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
class Normaliser(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mean = torch.zeros(size)  # here
        self.var = torch.ones(size)  # here

    def update(self, batch):
        self.mean = 0.99 * self.mean + 0.01 * batch.mean(0)
        self.var = 0.99 * self.var + 0.01 * torch.var(batch, 0)

    def forward(self, x):
        return (x - self.mean) / (self.var + 1e-8).sqrt()
""",
        """
class Scaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(1)  # here

    def forward(self, reward):
        new = reward.std()
        self.scale += 0.01 * (new - self.scale)
        return reward / self.scale
""",
    ],
)
def test_fires_where_the_state_is_not_saved(code):
    points_at(StatisticsNotABuffer(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
class Normaliser(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))

    def forward(self, x):
        self.mean = 0.99 * self.mean + 0.01 * x.mean(0)
        return x - self.mean
""",
        """
class Recurrent(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.cell = nn.GRUCell(size, size)
        self.hidden = torch.zeros(1, size)

    def forward(self, x):
        self.hidden = self.cell(x, self.hidden)
        return self.hidden
""",
        """
class Normaliser:
    def __init__(self, size):
        self.mean = torch.zeros(size)

    def __call__(self, x):
        self.mean = 0.99 * self.mean + 0.01 * x.mean(0)
        return x - self.mean
""",
        """
class Fixed(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mean = torch.zeros(size)

    def forward(self, x):
        return x - self.mean
""",
    ],
)
def test_quiet_where_it_is_saved_or_no_statistic(code):
    quiet(StatisticsNotABuffer(), text(HEAD + code))
