import pytest

from rldebug.rules.target_network.target_handed_to_optimizer import TargetHandedToOptimizer
from tests.judge import quiet
from tests.rules.sources import points_at, text

_FOLLOW = """
import torch
from itertools import chain

def follow(slow, fast, tau):
    for s, f in zip(slow.parameters(), fast.parameters()):
        s.data.lerp_(f.data, tau)

class Agent:
    def __init__(self):
        self.q, self.q_slow, self.pi = Critic(), Critic(), Actor()
        self.opt = torch.optim.Adam({given})  # here

    def update(self):
        self.opt.step()
        follow(self.q_slow, self.q, 0.005)
"""


@pytest.mark.parametrize(
    "given",
    [
        "list(self.q.parameters()) + list(self.q_slow.parameters())",
        "chain(self.q.parameters(), self.pi.parameters(), self.q_slow.parameters()), lr=1e-3",
        "[{'params': self.q.parameters()}, {'params': self.q_slow.parameters(), 'lr': 1e-4}]",
    ],
)
def test_fires_where_the_follower_is_in_the_optimizer(given):
    points_at(TargetHandedToOptimizer(), _FOLLOW.replace("{given}", given))


@pytest.mark.parametrize(
    "code",
    [
        _FOLLOW.replace("{given}", "self.q.parameters()"),
        _FOLLOW.replace("{given}", "self.pi.parameters()"),
        """
        import torch
        a, b = Net(), Net()
        b.load_state_dict(a.state_dict())
        opt = torch.optim.Adam(list(a.parameters()) + list(b.parameters()))
        """,
        """
        import torch
        opt = torch.optim.Adam(list(a.parameters()) + list(b.parameters()))
        for step in range(9):
            for p, q in zip(a.parameters(), b.parameters()):
                p.data.copy_(0.5 * p.data + 0.5 * q.data)
            for p, q in zip(a.parameters(), b.parameters()):
                q.data.copy_(0.5 * p.data + 0.5 * q.data)
        """,
    ],
)
def test_quiet_about_targets_outside_of_it(code):
    quiet(TargetHandedToOptimizer(), text(code))
