import torch
from torch import nn

from rldebug.rules.checkpoint.checkpoint_holds_more_than_weights import CheckpointHoldsMoreThanWeights
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_whole_network_was_saved(tmp_path):
    torch.save({"policy": nn.Linear(1, 1)}, tmp_path / "agent.pt")
    crash = crashed(lambda: torch.load(tmp_path / "agent.pt", weights_only=True))
    assert "Linear" in names(CheckpointHoldsMoreThanWeights(), crash).message


def test_quiet_when_the_file_is_not_there(tmp_path):
    quiet(CheckpointHoldsMoreThanWeights(), crashed(lambda: torch.load(tmp_path / "policy.pt")))
