import torch
from torch import nn

from rldebug.rules.checkpoint.checkpoint_unreadable import CheckpointUnreadable
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_file_is_not_there(tmp_path):
    names(CheckpointUnreadable(), crashed(lambda: torch.load(tmp_path / "policy.pt")))


def test_fires_when_the_file_is_cut_off(tmp_path):
    torch.save(nn.Linear(64, 64).state_dict(), tmp_path / "agent.pt")
    (tmp_path / "agent.pt").write_bytes((tmp_path / "agent.pt").read_bytes()[:4000])
    names(CheckpointUnreadable(), crashed(lambda: torch.load(tmp_path / "agent.pt")))


def test_quiet_when_another_file_is_not_there(tmp_path):
    quiet(CheckpointUnreadable(), crashed(lambda: (tmp_path / "settings.toml").read_text()))
