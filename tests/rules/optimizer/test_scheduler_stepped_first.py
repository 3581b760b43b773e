import warnings

import torch
from torch import nn

from rldebug.rules.optimizer.scheduler_stepped_first import SchedulerSteppedFirst
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_the_schedule_counts_environment_steps():
    def program():
        optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
        decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(10):
                decay.step()

    finding = names(SchedulerSteppedFirst(), crashed(program))
    assert finding.message.startswith("decay moved the learning rate")
    assert finding.severity == "warning"


def test_quiet_when_another_warning_is_raised():
    quiet(SchedulerSteppedFirst(), crashed(saying(UserWarning("To get the last learning rate, use get_last_lr()"))))
