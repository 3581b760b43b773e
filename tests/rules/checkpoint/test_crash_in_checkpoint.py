import torch
from torch import nn

from rldebug.rules.checkpoint.crash_in_checkpoint import CrashInCheckpoint
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_what_is_saved_cannot_be(tmp_path):
    names(
        CrashInCheckpoint(), crashed(lambda: torch.save({"policy": torch.zeros(2)}, tmp_path / "nowhere" / "policy.pt"))
    )


def test_quiet_when_a_rule_knows_the_error():
    quiet(CrashInCheckpoint(), crashed(lambda: nn.Linear(2, 3).load_state_dict({})))
