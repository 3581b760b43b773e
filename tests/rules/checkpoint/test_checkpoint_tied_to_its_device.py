import pytest

from rldebug.rules.checkpoint.checkpoint_tied_to_its_device import CheckpointTiedToItsDevice
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        def load(net, file):
            net.load_state_dict(torch.load(file))  # here
            return net.to(device)
        """,
        """
        import torch
        class Agent:
            def __init__(self):
                self.net = torch.nn.Linear(2, 2).cuda()
            def load(self, folder):
                kept = torch.load(f"{folder}/last.pt", weights_only=True)  # here
                self.net.load_state_dict(kept["net"])
        """,
    ],
)
def test_fires_where_a_gpu_is_used(code):
    points_at(CheckpointTiedToItsDevice(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        device = torch.device("cuda")
        kept = torch.load("last.pt", map_location=device)
        """,
        """
        import torch
        kept = torch.load("last.pt")
        """,
        """
        import torch
        device = torch.device("cuda")
        kept = torch.load("last.pt", "cpu")
        """,
    ],
)
def test_quiet_where_it_is_said_or_does_not_matter(code):
    quiet(CheckpointTiedToItsDevice(), text(code))
