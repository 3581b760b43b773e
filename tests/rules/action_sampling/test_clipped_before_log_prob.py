import pytest

from rldebug.rules.action_sampling.clipped_before_log_prob import ClippedBeforeLogProb
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        from torch.distributions import Normal
        def act(net, obs):
            pi = Normal(net(obs), 1.0)
            action = pi.sample()
            action = action.clamp(-1.0, 1.0)
            return action, pi.log_prob(action).sum(-1)  # here
        """,
        """
        import torch
        from torch.distributions import Independent, Normal
        class Policy(torch.nn.Module):
            def forward(self, obs):
                pi = Independent(Normal(self.mean(obs), self.std), 1)
                drawn = pi.rsample()
                bounded = torch.clamp(drawn, self.low, self.high)
                score = pi.log_prob(bounded)  # here
                return bounded, score
        """,
    ],
)
def test_fires_on_clipped_samples(code):
    points_at(ClippedBeforeLogProb(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        from torch.distributions import Normal
        def act(net, obs):
            pi = Normal(net(obs), 1.0)
            action = pi.sample()
            score = pi.log_prob(action)
            return action.clamp(-1, 1), score
        """,
        """
        import torch
        from torch.distributions import Beta
        def act(a, b):
            pi = Beta(a, b)
            x = pi.sample().clamp(1e-6, 1 - 1e-6)
            return pi.log_prob(x)
        """,
        """
        import torch
        from torch.distributions import Normal
        def score(net, obs, actions):
            pi = Normal(net(obs), 1.0)
            return pi.log_prob(actions.clamp(-1, 1))
        """,
        """
        import torch
        from torch.distributions import Normal
        def act(net, obs):
            pi = Normal(net(obs).clamp(-5, 5), 1.0)
            return pi.log_prob(pi.sample())
        """,
    ],
)
def test_quiet_on_what_was_drawn(code):
    quiet(ClippedBeforeLogProb(), text(code))
