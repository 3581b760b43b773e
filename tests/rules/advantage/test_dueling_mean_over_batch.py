import pytest

from rldebug.rules.advantage.dueling_mean_over_batch import DuelingMeanOverBatch
from tests.judge import quiet
from tests.rules.sources import points_at, text

_NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = nn.Linear(8, 1)
        self.gain = nn.Linear(8, 4)

    def forward(self, x):
        v, a = self.value(x), self.gain(x)
"""


@pytest.mark.parametrize(
    "code",
    [
        "        return v + a - a.mean()  # here",
        "        return v + (a - torch.mean(a))  # here",
        "        centred = a - a.mean(0, keepdim=True)  # here\n        return v + centred",
    ],
)
def test_fires_where_the_mean_has_no_axis_of_actions(code):
    finding = points_at(DuelingMeanOverBatch(), _NET + code)
    assert finding.edits[0].text == "a.mean(dim=-1, keepdim=True)"


@pytest.mark.parametrize(
    "code",
    [
        "        return v + a - a.mean(dim=1, keepdim=True)",
        "        return v + a - a.mean(-1, keepdim=True)",
        "        return v + a - a.max(dim=1, keepdim=True).values",
        "        return (a - a.mean()) / a.std()",
        "        return v + a",
    ],
)
def test_quiet_about_means_over_actions(code):
    quiet(DuelingMeanOverBatch(), text(_NET + code))


def test_quiet_about_advantages_outside_of_a_network():
    quiet(DuelingMeanOverBatch(), text("loss = v(x) + adv(x) - adv(x).mean()"))
