import pytest

from rldebug.rules.target_network.target_never_synchronised import TargetNeverSynchronised
from tests.judge import quiet
from tests.rules.sources import points_at, text

_SCRIPT = """
import copy, torch
from torch import nn
q = nn.Linear(4, 2)
frozen = copy.deepcopy(q)  # here
opt = torch.optim.Adam(q.parameters())
for p in frozen.parameters():
    p.requires_grad = False
for step in range(1000):
    s2, r, end, cut, _ = env.step(a)
    with torch.no_grad():
        y = r + 0.99 * (1 - d) * frozen(s2).max(1)[0]
    loss = (q(s) - y).pow(2).mean()
    loss.backward()
    opt.step()
"""
_CLASS = """
import torch
from torch import nn

class Agent:
    def __init__(self, gamma):
        self.net = nn.Linear(4, 2).to("cpu")
        self.lag = nn.Linear(4, 2).to("cpu")
        self.lag.load_state_dict(self.net.state_dict())  # here
        self.lag.eval()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.gamma = gamma

    def goal(self, reward, after, going_on):
        best = self.lag(after).max(dim=1).values.detach()
        return reward + self.gamma * going_on * best

    def play(self, env):
        obs, reward, end, cut, info = env.step(self.choose())
"""
_PARTS = """
from copy import deepcopy
import torch
from torch import nn

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.judge = nn.Linear(4, 1)
        self.actor = nn.Linear(4, 2)

def study(env):
    pair = Pair()
    lag = deepcopy(pair)  # here
    lag.requires_grad_(False)
    opt = torch.optim.Adam(pair.judge.parameters())

    def cost(s, r, s2):
        with torch.no_grad():
            goal = r + 0.9 * lag.judge(s2)
        return (pair.judge(s) - goal).pow(2).mean()

    for _ in range(99):
        seen, gain, end, cut, _ = env.step(0)
        cost(*rows()).backward()
        opt.step()
"""


# What was cloned is kept as it is, and pulls at what is learned.
_REFERENCE = """
import copy, torch
from torch import nn
import gymnasium as gym
env = gym.make("CartPole-v1")
q = nn.Linear(4, 2)
first = copy.deepcopy(q).requires_grad_(False)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(999):
    s2, r, end, cut, _ = env.step(0)
    s, a, gain = draw()
    with torch.no_grad():
        far = first(s)
    loss = -(q(s).log_softmax(-1)[:, a] * gain).mean() + 0.1 * nn.functional.mse_loss(q(s), far).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("code", [_SCRIPT, _CLASS, _PARTS])
def test_fires_where_nothing_writes_the_copy_again(code):
    points_at(TargetNeverSynchronised(), code)


@pytest.mark.parametrize(
    "code",
    [
        _SCRIPT + "    if step % 9 == 0:\n        frozen.load_state_dict(q.state_dict())\n",
        _SCRIPT + "    soft_update(frozen, q)\n",
        _PARTS + "        lag.judge.load_state_dict(pair.judge.state_dict())\n",
        _PARTS + "        for a, b in zip(lag.parameters(), pair.parameters()):\n            a.lerp_(b, 0.01)\n",
        _SCRIPT.replace("s2, r, end, cut, _ = env.step(a)", "s2, r, d = batch"),
        _SCRIPT.replace("r + 0.99 * (1 - d) * frozen(s2).max(1)[0]", "frozen(s2)"),
        _SCRIPT.replace("frozen(s2).max(1)[0]", "frozen(s2).log_softmax(-1)"),
        _REFERENCE,
        _REFERENCE.replace("nn.functional.mse_loss(q(s), far)", "divergence(Normal(q(s), 1), Normal(far, 1))"),
        _CLASS + "\ndef main(agent):\n    agent.lag.load_state_dict(agent.net.state_dict())\n",
        _CLASS + "\n    def sync(self):\n        self.lag.load_state_dict(self.net.state_dict())\n",
    ],
)
def test_quiet_about_copies_that_follow_or_are_no_targets(code):
    quiet(TargetNeverSynchronised(), text(code))
