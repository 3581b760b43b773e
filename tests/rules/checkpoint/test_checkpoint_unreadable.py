import torch
from torch import nn

from rldebug.rules.checkpoint.checkpoint_unreadable import CheckpointUnreadable
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_file_is_not_there(tmp_path):
    names(CheckpointUnreadable(), crashed(lambda: torch.load(tmp_path / "policy.pt")))


def test_fires_when_the_file_holds_more_than_weights(tmp_path):
    torch.save({"policy": nn.Linear(1, 1)}, tmp_path / "agent.pt")
    names(CheckpointUnreadable(), crashed(lambda: torch.load(tmp_path / "agent.pt", weights_only=True)))


def test_quiet_when_another_file_is_not_there(tmp_path):
    quiet(CheckpointUnreadable(), crashed(lambda: (tmp_path / "settings.toml").read_text()))
