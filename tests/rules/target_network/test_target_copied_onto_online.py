import pytest

from rldebug.rules.target_network.target_copied_onto_online import TargetCopiedOntoOnline
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        def goals(slow, gain, after):
            with torch.no_grad():
                return gain + 0.9 * slow(after).max(1)[0]
        fast, lag = Critic(), Critic()
        lag.load_state_dict(fast.state_dict())
        adam = torch.optim.Adam(fast.parameters())
        for k in range(1000):
            cost = (fast(rows) - goals(lag, gain, after)).pow(2).mean()
            cost.backward()
            adam.step()
            old, new = lag.state_dict(), fast.state_dict()
            for key in new:
                old[key] = 0.01 * new[key] + 0.99 * old[key]
            fast.load_state_dict(old)  # here
        """,
        """
        import copy, torch
        q = Critic()
        frozen = copy.deepcopy(q)
        opt = torch.optim.Adam(q.parameters())
        for step in range(1000):
            with torch.no_grad():
                y = r + 0.99 * frozen(s2).max(1)[0]
            loss = (q(s) - y).pow(2).mean()
            loss.backward()
            opt.step()
            if step % 100 == 0:
                q.load_state_dict(frozen.state_dict())  # here
        """,
        """
        import torch

        def follow(slow, fast, tau):
            for s, f in zip(slow.parameters(), fast.parameters()):
                s.data.copy_(tau * f.data + (1 - tau) * s.data)  # here

        class Agent:
            def __init__(self):
                self.net, self.lag = Critic(), Critic()
                self.lag.load_state_dict(self.net.state_dict())
                self.opt = torch.optim.Adam(self.net.parameters())

            @torch.no_grad()
            def goal(self, r, after):
                return r + self.lag(after)

            def update(self, batch):
                self.opt.step()
                follow(self.net, self.lag, 0.005)
        """,
    ],
)
def test_fires_where_the_learner_is_set_back(code):
    points_at(TargetCopiedOntoOnline(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import copy, torch
        q = Critic()
        frozen = copy.deepcopy(q)
        opt = torch.optim.Adam(q.parameters())
        for step in range(1000):
            with torch.no_grad():
                y = frozen(s2)
            opt.step()
            frozen.load_state_dict(q.state_dict())
        """,
        """
        import copy, torch
        net = Policy()
        opt = torch.optim.Adam(net.parameters())
        best = copy.deepcopy(net)
        for step in range(1000):
            opt.step()
            if better:
                best = copy.deepcopy(net)
            else:
                net.load_state_dict(best.state_dict())
        """,
        """
        import torch
        class Worker:
            def __init__(self, shared):
                self.shared = shared
                self.local = Policy()
                self.opt = torch.optim.Adam(self.local.parameters())
            def run(self):
                while True:
                    self.local.load_state_dict(self.shared.state_dict())
                    self.opt.step()
        """,
        """
        import torch
        teacher = load()
        student = Policy()
        student.load_state_dict(teacher.state_dict())
        opt = torch.optim.Adam(student.parameters())
        with torch.no_grad():
            y = teacher(x)
        """,
    ],
)
def test_quiet_about_other_ways(code):
    quiet(TargetCopiedOntoOnline(), text(code))
