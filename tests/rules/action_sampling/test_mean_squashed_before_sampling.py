import pytest

from rldebug.rules.action_sampling.mean_squashed_before_sampling import MeanSquashedBeforeSampling
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        class Actor(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(3, 64)
                self.mean = nn.Linear(64, 2)
            def forward(self, x):
                mu = torch.tanh(self.mean(torch.relu(self.body(x))))
                pi = Normal(mu, 0.3)
                u = pi.rsample()
                return torch.tanh(u)  # here
        """,
        """
        import torch
        from torch import nn
        from torch.distributions import Independent, Normal
        head = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
        def act(x, std):
            pi = Independent(Normal(head(x), std), 1)
            return pi.sample().tanh()  # here
        """,
    ],
)
def test_fires_on_two_of_them(code):
    points_at(MeanSquashedBeforeSampling(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        from torch import nn
        from torch.distributions import Normal
        head = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
        def act(x, std):
            return torch.tanh(Normal(head(x), std).rsample())
        """,
        """
        import torch
        from torch import nn
        from torch.distributions import Normal
        head = nn.Sequential(nn.Linear(3, 1), nn.Tanh())
        def act(x, std):
            return Normal(head(x), std).sample().clamp(-1, 1)
        """,
        """
        import torch
        from torch import nn
        from torch.distributions import Normal
        head = nn.Sequential(nn.Linear(3, 1), nn.Tanh())
        def act(x, std):
            return torch.tanh(Normal(5 * head(x), std).sample())
        """,
    ],
)
def test_quiet_on_one_of_them(code):
    quiet(MeanSquashedBeforeSampling(), text(code))
