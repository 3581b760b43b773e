import multiprocessing

from rldebug.rules.multiprocess.crash_between_processes import CrashBetweenProcesses
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_there_is_no_such_way_to_start():
    names(CrashBetweenProcesses(), crashed(lambda: multiprocessing.get_context("threads")))


def test_quiet_when_a_rule_knows_the_error():
    def program():
        ours, theirs = multiprocessing.Pipe()
        theirs.close()
        ours.recv()

    quiet(CrashBetweenProcesses(), crashed(program))
