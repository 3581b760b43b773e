import pytest

from rldebug.rules.entropy.temperature_drags_policy import TemperatureDragsPolicy
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn as nn
from torch.distributions import Normal

net = nn.Linear(4, 2)
log_alpha = torch.zeros(1, requires_grad=True)

def draw(obs):
    dist = Normal(net(obs), 1.0)
    u = dist.rsample()
    return torch.tanh(u), dist.log_prob(u).sum(-1)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
act, logp = draw(obs)
alpha_loss = -(log_alpha.exp() * (logp + target)).mean()  # here
alpha_loss.backward()
""",
        """
class Sac(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_temperature = nn.Parameter(torch.tensor(0.0))

    def update(self, obs):
        _, score = draw(obs)
        loss = torch.mean(-self.log_temperature * (score - self.wanted))  # here
        loss.backward()
""",
        """
act, logp = draw(obs)
alpha = log_alpha.exp()
policy_loss = (alpha.detach() * logp - q(obs, act)).mean()
alpha_loss = -(alpha * (logp + target)).mean()  # here
(policy_loss + alpha_loss).backward()
""",
    ],
)
def test_fires_where_the_log_prob_is_live(code):
    points_at(TemperatureDragsPolicy(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "_, logp = draw(obs)\nloss = -(log_alpha * (logp + target).detach()).mean()\nloss.backward()",
        "with torch.no_grad():\n    _, logp = draw(obs)\nloss = -(log_alpha * (logp + target)).mean()\nloss.backward()",
        "act, logp = draw(obs)\nloss = (log_alpha.exp() * logp - q(obs, act)).mean()\nloss.backward()",
        "act, logp = draw(obs)\nloss = (log_alpha.exp().detach() * logp).mean()\nloss.backward()",
        "act, logp = draw(obs)\nloss = -(logp * net(obs)).mean()\nloss.backward()",
    ],
)
def test_quiet_about_losses_that_are_apart(code):
    quiet(TemperatureDragsPolicy(), text(_HEAD + code))
