import pytest

from rldebug.rules.action_sampling.sampling_flag_never_read import SamplingFlagNeverRead
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        from torch.distributions import Categorical
        def act(net, obs, deterministic=False):
            pi = Categorical(logits=net(obs))
            return pi.sample()  # here
        """,
        """
        import torch
        from torch.distributions import Normal
        class Actor(torch.nn.Module):
            def act(self, obs, *, greedy: bool):
                pi = Normal(self.mean(obs), 1.0)
                action = pi.rsample()  # here
                return action, pi.log_prob(action).sum(-1)
        """,
        """
        import torch
        def act(net, obs, greedy=False):
            logp = net(obs).log_softmax(-1)
            move = torch.multinomial(logp.exp(), 1).squeeze(-1)  # here
            return move, logp.gather(-1, move.unsqueeze(-1))
        """,
    ],
)
def test_fires_where_it_samples_in_any_case(code):
    points_at(SamplingFlagNeverRead(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        from torch.distributions import Categorical
        def act(net, obs, deterministic=False):
            pi = Categorical(logits=net(obs))
            return pi.probs.argmax() if deterministic else pi.sample()
        """,
        """
        from torch.distributions import Categorical
        def act(net, obs, state=None):
            return Categorical(logits=net(obs)).sample()
        """,
        """
        def act(net, obs, deterministic=False):
            return net(obs).argmax()
        """,
        """
        import torch
        def act(net, obs, greedy=False):
            p = net(obs).softmax(-1)
            return p.argmax(-1) if greedy else torch.multinomial(p, 1)[:, 0]
        """,
        """
        import torch
        def batch(priorities, size, weighted=True):
            return torch.multinomial(priorities, size)
        """,
        """
        from torch.distributions import Categorical
        def act(net, obs, deterministic=False, **rest):
            pi = Categorical(logits=net(obs))
            def pick():
                return pi.mode if deterministic else pi.sample()
            return pi.sample() if rest else pick()
        """,
    ],
)
def test_quiet_where_it_is_read_or_no_switch(code):
    quiet(SamplingFlagNeverRead(), text(code))
