import pytest

from rldebug.rules.target_network.target_is_another_name import TargetIsAnotherName
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        net = Critic(4, 2)
        frozen = net  # here
        for step in range(1000):
            if step % 100 == 0:
                frozen.load_state_dict(net.state_dict())
        """,
        """
        class Agent:
            def __init__(self, model, device):
                self.policy_net = model.to(device)
                self.target_net = model.to(device)  # here

            def update(self):
                self.target_net.load_state_dict(self.policy_net.state_dict())
        """,
        """
        import copy

        class Agent:
            def __init__(self):
                self.critic = make_critic()
                self.lagging = copy.copy(self.critic).eval()  # here

            def follow(self, rate):
                for old, new in zip(self.lagging.parameters(), self.critic.parameters()):
                    old.data.copy_(rate * new.data + (1 - rate) * old.data)
        """,
        """
        def mix(slow, fast, tau):
            for a, b in zip(slow.parameters(), fast.parameters()):
                a.data.mul_(1 - tau)
                a.data.add_(tau * b.data)

        def train():
            q = build()
            q_old = q  # here
            mix(q_old, q, 0.01)
        """,
    ],
)
def test_fires_where_two_names_stand_for_one_network(code):
    points_at(TargetIsAnotherName(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import copy
        net = Critic()
        target = copy.deepcopy(net)
        target.load_state_dict(net.state_dict())
        """,
        """
        net = Critic()
        target = Critic()
        target.load_state_dict(net.state_dict())
        """,
        """
        def build():
            return Critic()
        net, target = build(), build()
        target.load_state_dict(net.state_dict())
        """,
        """
        class Agent:
            def __init__(self, net, target):
                self.net = net
                self.target = target
            def update(self):
                self.target.load_state_dict(self.net.state_dict())
        """,
        """
        best = net = Critic()
        for step in range(9):
            best = copy.deepcopy(net)
            best.load_state_dict(net.state_dict())
        """,
        "target.load_state_dict(target.state_dict())",
    ],
)
def test_quiet_about_two_networks(code):
    quiet(TargetIsAnotherName(), text(code))
