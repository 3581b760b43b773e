import pytest

from rldebug.rules.policy_loss.noise_in_deviation import NoiseInDeviation
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
from torch.distributions import Normal
"""


@pytest.mark.parametrize(
    "code",
    [
        "dist = Normal(mu, std + torch.randn_like(std))  # here",
        "dist = Normal(loc=mu, scale=log_std.exp() * torch.rand(2))  # here",
        """
class Policy:
    def forward(self, x):
        noise = 0.1 * torch.randn(self.n)
        scale = self.log_std.exp() + noise
        return Normal(self.mean(x), scale)  # here
""",
    ],
)
def test_fires_where_the_scale_is_random(code):
    points_at(NoiseInDeviation(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "dist = Normal(mu, std)",
        "dist = Normal(mu + torch.randn_like(mu), std)",
        "dist = Normal(mu, torch.nn.Parameter(torch.randn(2)).exp())",
        "dist = Normal(mu, torch.rand(3))",
        "noise = Normal(0.0, 1.0).sample() + torch.randn(2)",
    ],
)
def test_quiet_about_fixed_scales(code):
    quiet(NoiseInDeviation(), text(_HEAD + code))
