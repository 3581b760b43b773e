import pytest

from rldebug.rules.optimizer.another_network_clipped import AnotherNetworkClipped
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn, optim
from torch.nn.utils import clip_grad_norm_

actor, critic = nn.Linear(2, 2), nn.Linear(2, 1)
actor_opt = optim.Adam(actor.parameters())
critic_opt = optim.Adam(critic.parameters())
both_opt = optim.Adam([*actor.parameters(), *critic.parameters()])

"""


@pytest.mark.parametrize(
    "code",
    [
        """
critic_opt.zero_grad()
critic(x).mean().backward()
clip_grad_norm_(actor.parameters(), 0.5)  # here
critic_opt.step()
""",
        """
class Agent:
    def __init__(self):
        self.pi = nn.Sequential(nn.Linear(2, 2))
        self.q = nn.Sequential(nn.Linear(2, 1))
        self.pi_opt = optim.Adam(self.pi.parameters(), lr=1e-3)

    def learn(self, x):
        loss = self.pi(x).mean()
        self.pi_opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.q.parameters(), 1.0)  # here
        self.pi_opt.step()
""",
    ],
)
def test_fires_where_the_names_differ(code):
    points_at(AnotherNetworkClipped(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "critic(x).mean().backward()\nclip_grad_norm_(critic.parameters(), 0.5)\ncritic_opt.step()",
        "critic(x).mean().backward()\nclip_grad_norm_(critic.parameters(), 0.5)\nboth_opt.step()",
        "(critic(x) + actor(x)).mean().backward()\nclip_grad_norm_(actor.parameters(), 0.5)\n"
        "clip_grad_norm_(critic.parameters(), 0.5)\nactor_opt.step()\ncritic_opt.step()",
        "alias = critic\ncritic(x).mean().backward()\nclip_grad_norm_(alias.parameters(), 0.5)\ncritic_opt.step()",
        "def update(net, opt):\n    net(x).mean().backward()\n    clip_grad_norm_(net.parameters(), 0.5)\n"
        "    opt.step()\n"
        "update(actor, actor_opt)",
        "net = nn.Sequential(nn.Linear(2, 2))\nopt = optim.Adam(net.parameters())\nnet(x).mean().backward()\n"
        "clip_grad_norm_(net[0].parameters(), 0.5)\nopt.step()",
    ],
)
def test_quiet_where_the_same_are_clipped(code):
    quiet(AnotherNetworkClipped(), text(HEAD + code))
