import pytest

from rldebug.rules.checkpoint.optimizer_not_in_checkpoint import OptimizerNotInCheckpoint
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import os
        import torch
        from torch import nn
        net = nn.Linear(4, 2)
        adam = torch.optim.Adam(net.parameters())
        if os.path.exists("last.pt"):
            net.load_state_dict(torch.load("last.pt"))
        for round in range(100):
            loss = net(batch()).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            torch.save(net.state_dict(), "last.pt")  # here
        """,
        """
        import torch
        class Agent:
            def __init__(self):
                self.actor = torch.nn.Linear(3, 1)
                self.optimizer = torch.optim.Adam(self.actor.parameters())
            def update(self, loss):
                loss.backward()
                self.optimizer.step()
            def save(self, file):
                torch.save({"actor": self.actor.state_dict(), "steps": self.steps}, file)  # here
            def resume(self, file):
                kept = torch.load(file)
                self.actor.load_state_dict(kept["actor"])
                self.steps = kept["steps"]
        """,
    ],
)
def test_fires_where_it_is_left_out(code):
    points_at(OptimizerNotInCheckpoint(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        from torch import nn
        net = nn.Linear(4, 2)
        adam = torch.optim.Adam(net.parameters())
        adam.step()
        torch.save({"net": net.state_dict(), "adam": adam.state_dict()}, "last.pt")
        kept = torch.load("last.pt")
        net.load_state_dict(kept["net"])
        adam.load_state_dict(kept["adam"])
        """,
        """
        import torch
        from torch import nn
        net = nn.Linear(4, 2)
        adam = torch.optim.Adam(net.parameters())
        adam.step()
        torch.save(net.state_dict(), "last.pt")
        """,
        """
        import torch
        from torch import nn
        net = nn.Linear(4, 2)
        net.load_state_dict(torch.load("last.pt"))
        torch.save(net.state_dict(), "copy.pt")
        """,
        """
        import torch
        from torch import nn
        net = nn.Linear(4, 2)
        all_of_them = {"adam": torch.optim.Adam(net.parameters())}
        adam = torch.optim.Adam(net.parameters())
        adam.step()
        net.load_state_dict(torch.load("last.pt")["net"])
        torch.save({"net": net.state_dict(), "rest": [o.state_dict() for o in all_of_them.values()]}, "last.pt")
        """,
    ],
)
def test_quiet_where_it_is_kept_or_not_resumed(code):
    quiet(OptimizerNotInCheckpoint(), text(code))
