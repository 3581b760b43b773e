import pytest

from rldebug.rules.policy_loss.clip_bounds_miss_one import ClipBoundsMissOne
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn as nn
from torch.distributions import Categorical
EPS = 0.2
net = nn.Linear(4, 2)
ratio = torch.exp(Categorical(logits=net(obs)).log_prob(act) - old)
"""


@pytest.mark.parametrize(
    "clip",
    [
        "torch.clamp(ratio, 1 - eps, 1 - eps)",
        "torch.clamp(ratio, -EPS, EPS)",
        "ratio.clamp(1 + self.clip, 1 - self.clip)",
        "torch.clip(ratio, min=1.0 + EPS, max=1.0 + EPS)",
        "ratio.clamp(0.1, 0.3)",
    ],
)
def test_fires_where_one_is_not_between(clip):
    points_at(ClipBoundsMissOne(), _HEAD + f"x = {clip} * adv  # here\n")


@pytest.mark.parametrize(
    "clip",
    [
        "torch.clamp(ratio, 1 - eps, 1 + eps)",
        "torch.clamp(ratio, low, high)",
        "ratio.clamp(-bound, bound)",
        "ratio.clamp(max=1.0)",
        "torch.clamp(ratio, 0.0, 10.0)",
        "torch.clamp(ratio, 1 / (1 + EPS), 1 + EPS)",
        "torch.clamp(net(obs).exp(), -EPS, EPS)",
        "torch.clamp(ratio - 1, -EPS, EPS)",
    ],
)
def test_quiet_about_bounds_around_one(clip):
    quiet(ClipBoundsMissOne(), text(_HEAD + f"x = {clip} * adv\n"))
