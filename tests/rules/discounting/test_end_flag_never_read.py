import pytest

from rldebug.rules.discounting.end_flag_never_read import EndFlagNeverRead
from tests.judge import quiet
from tests.rules.sources import points_at, text

_PLAY = """
import random
import torch
from torch import nn
net = nn.Linear(4, 2)
memory = []

def play(env):
    obs, _ = env.reset()
    while True:
        after, reward, terminated, truncated, _ = env.step(act(obs))
        memory.append((obs, action, reward, after, terminated))
        obs = after
"""


@pytest.mark.parametrize(
    "code",
    [
        """
def learn():
    s, a, r, s2, d = map(torch.tensor, zip(*random.sample(memory, 32)))
    y = r + 0.99 * net(s2).max(1)[0]  # here
    return (net(s) - y.detach()).pow(2).mean()
""",
        """
class Learner:
    def update(self):
        state, action, reward, after, _ = self.memory.sample(32)
        reward = torch.as_tensor(reward)
        with torch.no_grad():
            best = net(after).max(dim=1).values
            goal = reward + self.gamma * best  # here
        return goal
""",
        """
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    r = torch.tensor(r).unsqueeze(1)
    d = torch.tensor(d).unsqueeze(1)
    y = r + 0.99 * net(torch.tensor(s2))  # here
    return y
""",
    ],
)
def test_fires_where_the_flag_is_left_alone(code):
    points_at(EndFlagNeverRead(), _PLAY + code)


@pytest.mark.parametrize(
    "code",
    [
        "def learn():\n    s, a, r, s2, d = zip(*rows)\n    y = r + 0.99 * (1 - d) * net(s2).max(1)[0]",
        "def learn():\n    s, a, r, s2, d = zip(*rows)\n    q = net(s2)\n    q[d] = 0.0\n    y = r + 0.99 * q",
        "def learn():\n    s, a, r, s2, d = zip(*rows)\n    y = torch.where(d, r, r + 0.99 * net(s2))",
        "def learn():\n    s, a, r, s2 = zip(*rows)\n    y = r + 0.99 * net(s2)",
        "def learn(r, s2):\n    y = r + 0.99 * net(s2)",
        "def learn():\n    s, a, r, s2, d = zip(*rows)\n    if not d:\n        y = r + 0.99 * net(s2)",
    ],
)
def test_quiet_about_targets_that_end(code):
    quiet(EndFlagNeverRead(), text(_PLAY + code))
