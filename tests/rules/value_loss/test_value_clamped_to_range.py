import pytest

from rldebug.rules.value_loss.value_clamped_to_range import ValueClampedToRange
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn as nn
critic = nn.Linear(4, 1)
surrogate = torch.clamp(ratio, 1 - eps, 1 + eps) * adv
value = critic(obs).squeeze(-1)
"""


@pytest.mark.parametrize(
    "code",
    [
        "held = torch.clamp(value, -eps, eps)  # here\nloss = torch.max((value - ret) ** 2, (held - ret) ** 2).mean()",
        "loss = (value.clamp(-eps, eps) - ret).pow(2).mean()  # here",
    ],
)
def test_fires_where_the_value_is_held_near_zero(code):
    points_at(ValueClampedToRange(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "clipped = old + torch.clamp(value - old, -eps, eps)\nloss = (clipped - ret).pow(2).mean()",
        "change = value - old\nclipped = old + change.clamp(-eps, eps)\nloss = (clipped - ret).pow(2).mean()",
        "clipped = torch.clamp(value, old - eps, old + eps)\nloss = (clipped - ret).pow(2).mean()",
        "clipped = torch.clamp(value, -10.0, 10.0)\nloss = (clipped - ret).pow(2).mean()",
        "clipped = torch.clamp(value, -limit, limit)\nloss = (clipped - ret).pow(2).mean()",
        "noise = torch.clamp(torch.randn(3), -eps, eps)\nloss = (noise - ret).pow(2).mean()",
    ],
)
def test_quiet_about_changes_that_are_clamped(code):
    quiet(ValueClampedToRange(), text(_HEAD + code))
