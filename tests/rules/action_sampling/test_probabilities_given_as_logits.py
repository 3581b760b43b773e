import pytest

from rldebug.rules.action_sampling.probabilities_given_as_logits import ProbabilitiesGivenAsLogits
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Bernoulli, Categorical
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
net = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=-1))
dist = Categorical(logits=net(obs))  # here
""",
            id="a network that ends in a softmax",
        ),
        pytest.param(
            """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(x).softmax(-1)

class Agent:
    def __init__(self):
        self.pi = Policy()

    def act(self, obs):
        p = self.pi(obs)
        return Categorical(logits=p)  # here
""",
            id="a method",
        ),
        pytest.param(
            """
net = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=-1))
loss = F.cross_entropy(net(obs), actions)  # here
""",
            id="cloning",
        ),
    ],
)
def test_fires_on(code):
    points_at(ProbabilitiesGivenAsLogits(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
Categorical(logits=net(obs))
F.cross_entropy(net(obs), actions)
""",
            id="scores",
        ),
        pytest.param(
            """
net = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=-1))
Categorical(probs=net(obs))
""",
            id="probabilities by name",
        ),
        pytest.param(
            """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
Categorical(logits=F.log_softmax(net(obs), -1))
""",
            id="logarithms of probabilities",
        ),
        pytest.param(
            """
Categorical(logits=obs)
""",
            id="of unknown origin",
        ),
    ],
)
def test_quiet_about(code):
    quiet(ProbabilitiesGivenAsLogits(), text(HEAD + code))
