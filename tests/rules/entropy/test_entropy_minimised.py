import pytest

from rldebug.rules.entropy.entropy_minimised import EntropyMinimised
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn as nn
from dataclasses import dataclass
from torch.distributions import Categorical

@dataclass
class Args:
    ent_coef: float = 0.01

args = Args()
net = nn.Linear(4, 2)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
logs = torch.log_softmax(net(obs), dim=-1)
spread = (logs.exp() * logs).sum(-1).mean()
gain = -(logs.gather(1, act) * adv).mean()
loss = gain - 0.01 * spread  # here
loss.backward()
""",
        """
dist = Categorical(logits=net(obs))
pg = -(dist.log_prob(act) * adv).mean()
loss = pg + args.ent_coef * dist.entropy().mean()  # here
loss.backward()
""",
        """
class Agent:
    def __init__(self, bonus=0.05):
        self.bonus = bonus

    def evaluate(self, obs, act):
        dist = Categorical(logits=net(obs))
        return dist.log_prob(act), dist.entropy()

    def update(self, obs, act, adv):
        logp, entropy = self.evaluate(obs, act)
        total = -(logp * adv).mean()
        total += self.bonus * entropy.mean()  # here
        total.backward()
""",
        """
dist = Categorical(logits=net(obs))
ent = -dist.entropy().mean()
loss = -(dist.log_prob(act) * adv).mean() - 0.01 * ent  # here
loss.backward()
""",
    ],
)
def test_fires_where_the_entropy_is_added(code):
    points_at(EntropyMinimised(), _HEAD + code)


@pytest.mark.parametrize(
    "loss",
    [
        "-(dist.log_prob(act) * adv).mean() - 0.01 * dist.entropy().mean()",
        "-(dist.log_prob(act) * adv).mean() + 0.01 * -dist.entropy().mean()",
        "-(dist.log_prob(act) * adv + args.ent_coef * dist.entropy()).mean()",
        "-(dist.log_prob(act) * adv).mean() + coefficient * dist.entropy().mean()",
        "-(dist.log_prob(act) * adv).mean() + -0.01 * dist.entropy().mean()",
        "dist.entropy().mean()",
        "-(dist.log_prob(act) * adv).mean() + 0.01 * dist.entropy().mean().detach()",
    ],
)
def test_quiet_about_a_bonus(loss):
    quiet(EntropyMinimised(), text(_HEAD + f"dist = Categorical(logits=net(obs))\nloss = {loss}\nloss.backward()\n"))


@pytest.mark.parametrize("sign", ["+ 0.01 * spread", "- 0.01 * (-spread)"])
def test_quiet_about_a_bonus_by_hand(sign):
    made = "logs = torch.log_softmax(net(obs), dim=-1)\nspread = (logs.exp() * logs).sum(-1).mean()\n"
    loss = f"loss = -(logs.gather(1, act) * adv).mean() {sign}\nloss.backward()\n"
    quiet(EntropyMinimised(), text(_HEAD + made + loss))
