import torch
from torch import nn

from rldebug.rules.optimizer.crash_in_optimizer import CrashInOptimizer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_setting_is_refused():
    names(CrashInOptimizer(), crashed(lambda: torch.optim.Adam(nn.Linear(2, 2).parameters(), lr=-1.0)))


def test_quiet_when_a_rule_knows_the_error():
    quiet(CrashInOptimizer(), crashed(lambda: torch.optim.Adam([])))
