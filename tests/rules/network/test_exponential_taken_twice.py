import pytest

from rldebug.rules.network.exponential_taken_twice import ExponentialTakenTwice
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
        import torch
        from torch import nn
        from torch.distributions import Normal
"""


@pytest.mark.parametrize(
    "code",
    [
        """
        class Policy(nn.Module):
            def forward(self, x):
                return Normal(self.mu(x), self.log_sigma.exp().exp())  # here
        """,
        """
        class Policy(nn.Module):
            def forward(self, x):
                sigma = torch.exp(self.log_sigma).expand_as(x)
                sigma = sigma.unsqueeze(0)
                return Normal(self.mu(x), scale=torch.exp(sigma))  # here
        """,
    ],
)
def test_fires_where_the_deviation_was_exponentiated_before(code):
    points_at(ExponentialTakenTwice(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
        class Policy(nn.Module):
            def forward(self, x):
                return Normal(self.mu(x), self.log_sigma.exp())
        """,
        """
        def gumbel(x):
            return torch.exp(-torch.exp(-x))
        """,
        """
        class Policy(nn.Module):
            def forward(self, x):
                sigma = self.log_sigma.exp()
                return Normal(self.mu(x), sigma)
            def ratio(self, new, old):
                return (new - old).exp()
        """,
    ],
)
def test_quiet_where_it_is_taken_once(code):
    quiet(ExponentialTakenTwice(), text(HEAD + code))
