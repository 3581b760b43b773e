import pytest

from rldebug.rules.action_sampling.logits_given_as_probabilities import LogitsGivenAsProbabilities
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
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
def act(obs):
    return Categorical(net(obs)).sample()  # here
""",
            id="without a name",
        ),
        pytest.param(
            """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(x)

policy = Policy()
scores = policy(obs)
dist = Categorical(probs=scores)  # here
""",
            id="by the wrong name",
        ),
        pytest.param(
            """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return F.log_softmax(self.out(x), dim=-1)

policy = Policy()
dist = torch.distributions.Categorical(policy(obs))  # here
""",
            id="logarithms",
        ),
        pytest.param(
            """
head = nn.Linear(4, 3)
gate = Bernoulli(head(obs))  # here
""",
            id="yes or no",
        ),
    ],
)
def test_fires_on(code):
    points_at(LogitsGivenAsProbabilities(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
Categorical(logits=net(obs))
""",
            id="by its name",
        ),
        pytest.param(
            """
net = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=-1))
Categorical(net(obs))
""",
            id="probabilities",
        ),
        pytest.param(
            """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
Categorical(torch.softmax(net(obs), -1))
Categorical(net(obs).softmax(-1))
""",
            id="a softmax on the way",
        ),
        pytest.param(
            """
Categorical(obs)
""",
            id="of unknown origin",
        ),
        pytest.param(
            """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(x) if x.ndim else F.softmax(self.out(x), -1)

Categorical(Policy()(obs))
""",
            id="one of two ways",
        ),
        pytest.param(
            """
class Categorical:
    pass

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
Categorical(net(obs))
""",
            id="another class of the same name",
        ),
    ],
)
def test_quiet_about(code):
    quiet(LogitsGivenAsProbabilities(), text(HEAD + code))
