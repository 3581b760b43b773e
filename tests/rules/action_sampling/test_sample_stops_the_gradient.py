import pytest

from rldebug.rules.action_sampling.sample_stops_the_gradient import SampleStopsTheGradient
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        class Mover(nn.Module):
            def __init__(self):
                super().__init__()
                self.mean = nn.Linear(3, 1)
            def forward(self, x):
                pi = Normal(self.mean(x), 0.1)
                move = pi.sample()  # here
                return torch.tanh(move), pi.log_prob(move)
        class Judge(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 1)
            def forward(self, x, move):
                return self.net(torch.cat([x, move], 1))
        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.mover, self.judge = Mover(), Judge()
        def study():
            both = Both()
            adam = torch.optim.Adam(both.mover.parameters())
            def cost(rows):
                move, score = both.mover(rows)
                return (0.2 * score - both.judge(rows, move)).mean()
            def update(rows):
                adam.zero_grad()
                value = cost(rows)
                value.backward()
                adam.step()
        """,
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        mean, critic = nn.Linear(3, 1), nn.Linear(4, 1)
        adam = torch.optim.Adam(mean.parameters())
        def improve(s):
            pi = Normal(mean(s), 0.1)
            a = pi.sample()  # here
            loss = -critic(torch.cat([s, a], 1)).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
        """,
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        class Critic(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 1)
            def forward(self, s, a):
                return self.net(torch.cat([s, a], 1))
        class Agent:
            def __init__(self):
                self.critic = Critic()
                self.actor = nn.Linear(3, 1)
            def update(self, s, bonus):
                pi = Normal(self.actor(s), 0.2)
                move = torch.tanh(pi.sample())  # here
                q = self.critic(s, move)
                (0.1 * bonus - q).mean().backward()
        """,
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        mean, critic = nn.Linear(3, 1), nn.Linear(4, 1)
        def improve(s, alpha):
            pi = Normal(mean(s), 0.1)
            a = pi.sample()  # here
            score = pi.log_prob(a).sum(-1)
            (alpha * score - critic(torch.cat([s, a], 1)).squeeze(1)).mean().backward()
        """,
    ],
)
def test_fires_on_actors_that_climb_a_critic(code):
    points_at(SampleStopsTheGradient(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        mean, critic = nn.Linear(3, 1), nn.Linear(4, 1)
        def improve(s):
            a = Normal(mean(s), 0.1).rsample()
            (-critic(torch.cat([s, a], 1)).mean()).backward()
        """,
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        mean, critic = nn.Linear(3, 1), nn.Linear(4, 1)
        def improve(s, goal):
            a = Normal(mean(s), 0.1).sample()
            (critic(torch.cat([s, a], 1)) - goal).pow(2).mean().backward()
        """,
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        mean, critic = nn.Linear(3, 1), nn.Linear(4, 1)
        def improve(s):
            pi = Normal(mean(s), 0.1)
            a = pi.sample()
            q = critic(torch.cat([s, a], 1)).detach()
            (-(pi.log_prob(a) * q).mean()).backward()
        """,
        """
        import torch
        import torch.nn as nn
        from torch.distributions import Normal
        mean, critic = nn.Linear(3, 1), nn.Linear(4, 1)
        def improve(s, r):
            with torch.no_grad():
                a = Normal(mean(s), 0.1).sample()
                goal = r - critic(torch.cat([s, a], 1))
            (critic(s) - goal).pow(2).mean().backward()
        """,
    ],
)
def test_quiet_on_others(code):
    quiet(SampleStopsTheGradient(), text(code))
