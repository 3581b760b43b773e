import torch
import torch.distributed as dist

from rldebug.rules.multiprocess.process_group_missing import ProcessGroupMissing
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_one_process_reduces():
    def program():
        dist.all_reduce(torch.ones(1))

    names(ProcessGroupMissing(), crashed(program))


def test_quiet_when_the_launcher_is_missing():
    quiet(ProcessGroupMissing(), crashed(saying(ValueError("environment variable RANK expected, but not set"))))
