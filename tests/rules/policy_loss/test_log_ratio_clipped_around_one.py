import pytest

from rldebug.rules.policy_loss.log_ratio_clipped_around_one import LogRatioClippedAroundOne
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn as nn
from torch.distributions import Categorical
EPS = 0.2
net = nn.Linear(4, 2)
change = Categorical(logits=net(obs)).log_prob(act) - old
"""


@pytest.mark.parametrize(
    "clip",
    ["torch.clamp(change, 1 - eps, 1 + eps)", "change.clamp(1 - self.clip, 1 + self.clip)", "change.clip(0.8, 1.2)"],
)
def test_fires_where_the_exponential_is_missing(clip):
    points_at(LogRatioClippedAroundOne(), _HEAD + f"x = {clip} * adv  # here\n")


@pytest.mark.parametrize(
    "clip",
    [
        "torch.clamp(change.exp(), 1 - eps, 1 + eps)",
        "torch.clamp(change, -EPS, EPS)",
        "torch.clamp(change, -20, 2)",
        "torch.clamp(change, low, high)",
        "torch.clamp(old - other, 1 - EPS, 1 + EPS)",
    ],
)
def test_quiet_where_the_ratio_is_clipped_or_the_logarithm_around_zero(clip):
    quiet(LogRatioClippedAroundOne(), text(_HEAD + f"x = {clip} * adv\n"))
