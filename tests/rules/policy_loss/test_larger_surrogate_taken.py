import pytest

from rldebug.rules.policy_loss.larger_surrogate_taken import LargerSurrogateTaken
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn as nn
from torch.distributions import Categorical
net = nn.Linear(4, 2)
ratio = torch.exp(Categorical(logits=net(obs)).log_prob(act) - old)
"""


@pytest.mark.parametrize(
    "code",
    [
        "loss = -torch.max(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()  # here\nloss.backward()",
        """
s1 = -adv * ratio
s2 = -adv * ratio.clamp(1 - eps, 1 + eps)
pg = torch.minimum(s1, s2).mean()  # here
(pg + 0.5 * net(obs).pow(2).mean()).backward()
""",
        """
def objective(adv):
    first = ratio * adv
    second = torch.clip(ratio, 0.8, 1.2) * adv
    return torch.max(first, second)  # here
loss = -objective(weights).mean()
loss.backward()
""",
    ],
)
def test_fires_where_the_clipped_one_can_be_avoided(code):
    finding = points_at(LargerSurrogateTaken(), _HEAD + code)
    assert "max" in finding.edits[0].text or "min" in finding.edits[0].text


@pytest.mark.parametrize(
    "code",
    [
        "loss = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()\nloss.backward()",
        "loss = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 0.8, 1.2)).mean()\nloss.backward()",
        "loss = -torch.max(q1(obs), q2(obs)).mean()\nloss.backward()",
        "s = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv)\n(-torch.max(s, 3.0 * adv).mean()).backward()",
        "x = -torch.max(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()\nprint(x)",
    ],
)
def test_quiet_about_the_worse_of_the_two(code):
    quiet(LargerSurrogateTaken(), text(_HEAD + code))
