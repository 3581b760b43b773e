import pytest

from rldebug.rules.target_network.blend_rates_swapped import BlendRatesSwapped
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        mine = lag.state_dict()
        lag.load_state_dict({k: 0.99 * v + 0.01 * mine[k] for k, v in net.state_dict().items()})  # here
        """,
        """
        TAU = 0.005
        for t, p in zip(target.parameters(), net.parameters()):
            t.data.copy_(TAU * t.data + (1 - TAU) * p.data)  # here
        """,
        """
        class Agent:
            def __init__(self, tau=1e-3):
                self.tau = tau
            def follow(self):
                for p, t in zip(self.net.parameters(), self.old.parameters()):
                    t.data = self.tau * t.data + (1.0 - self.tau) * p.data  # here
        """,
        """
        def follow(slow, fast, polyak):
            for s, f in zip(slow.parameters(), fast.parameters()):
                s.data.lerp_(f.data, polyak)  # here
        follow(a, b, 0.995)
        """,
        """
        from dataclasses import dataclass
        @dataclass
        class Args:
            tau: float = 0.01
        args = Args()
        mine, theirs = target.state_dict(), net.state_dict()
        for key in theirs:
            mine[key] = theirs[key] * (1 - args.tau) + mine[key] * args.tau  # here
        target.load_state_dict(mine)
        """,
        """
        for t, p in zip(target.parameters(), net.parameters()):
            t.mul_(0.005)
            t.add_(p, alpha=0.995)  # here
        """,
    ],
)
def test_fires_where_the_target_keeps_next_to_nothing(code):
    points_at(BlendRatesSwapped(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        mine = lag.state_dict()
        lag.load_state_dict({k: 0.01 * v + 0.99 * mine[k] for k, v in net.state_dict().items()})
        """,
        "for t, p in zip(a.parameters(), b.parameters()):\n    t.data.copy_(0.005 * p.data + 0.995 * t.data)",
        "for t, p in zip(a.parameters(), b.parameters()):\n    t.data.copy_(tau * t.data + (1 - tau) * p.data)",
        "for t, p in zip(a.parameters(), b.parameters()):\n    t.data.lerp_(p.data, 0.005)",
        "for t, p in zip(a.parameters(), b.parameters()):\n    t.data.copy_(p.data)",
        """
        POLYAK = 0.995
        for p, t in zip(net.parameters(), target.parameters()):
            t.data.mul_(POLYAK)
            t.data.add_((1 - POLYAK) * p.data)
        """,
        """
        def follow(slow, fast, tau):
            for s, f in zip(slow.parameters(), fast.parameters()):
                s.data.copy_(tau * f.data + (1.0 - tau) * s.data)
        follow(target, net, 0.01)
        follow(target, net, 1.0)
        """,
    ],
)
def test_quiet_about_a_target_that_keeps_most_of_itself(code):
    quiet(BlendRatesSwapped(), text(code))
