import pytest

from rldebug.rules.exploration.best_of_the_batch import BestOfTheBatch
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import numpy as np
import torch
from torch import nn
net = nn.Linear(4, 2)
"""


@pytest.mark.parametrize(
    "code",
    [
        "best = net(rows).sum(2).argmax(0)  # here",
        "action = net(obs.unsqueeze(0)).argmax(0)  # here",
        "action = torch.argmax(net(torch.as_tensor(obs)[None]), dim=0).numpy()  # here",
        """
class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    def act(self, obs):
        state = torch.tensor(obs).unsqueeze(0).to(self.device)
        values = self.q(state)
        return np.argmax(values.detach().numpy(), axis=0)  # here
""",
    ],
)
def test_fires_where_the_axis_is_that_of_the_batch(code):
    points_at(BestOfTheBatch(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "best = net(rows).sum(2).argmax(1)",
        "best = net(row).mean(dim=1).argmax(0)",
        "action = net(obs.unsqueeze(0)).argmax(1)",
        "action = net(obs.unsqueeze(0)).argmax(dim=-1).item()",
        "action = net(obs.unsqueeze(0)).argmax()",
        "action = net(obs).argmax(0)",
        "action = net(obs[None])[0].argmax(0)",
        "best = scores.argmax(0)",
    ],
)
def test_quiet_about_the_axis_of_the_actions(code):
    quiet(BestOfTheBatch(), text(_HEAD + code))
