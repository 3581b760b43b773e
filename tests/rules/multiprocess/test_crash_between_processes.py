import multiprocessing

import torch

from rldebug.rules.multiprocess.crash_between_processes import CrashBetweenProcesses
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_no_process_group_was_made():
    names(CrashBetweenProcesses(), crashed(lambda: torch.distributed.all_reduce(torch.zeros(1))))


def test_quiet_when_a_rule_knows_the_error():
    def program():
        ours, theirs = multiprocessing.Pipe()
        theirs.close()
        ours.recv()

    quiet(CrashBetweenProcesses(), crashed(program))
