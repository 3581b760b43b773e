import multiprocessing

from rldebug.rules.multiprocess.worker_died import WorkerDied
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_the_other_end_is_closed():
    def program():
        ours, theirs = multiprocessing.Pipe()
        theirs.close()
        ours.recv()

    names(WorkerDied(), crashed(program))


def test_quiet_when_a_file_ends_too_early():
    quiet(WorkerDied(), crashed(saying(EOFError("Ran out of input"))))
