import multiprocessing
import threading

from rldebug.rules.multiprocess.cannot_be_sent_to_worker import CannotBeSentToWorker
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def work(lock):
    return lock


def test_fires_when_a_lock_is_sent():
    def program():
        multiprocessing.get_context("spawn").Process(target=work, args=(threading.Lock(),)).start()

    names(CannotBeSentToWorker(), crashed(program))


def test_quiet_when_a_worker_is_gone():
    def program():
        ours, theirs = multiprocessing.Pipe()
        theirs.close()
        ours.recv()

    quiet(CannotBeSentToWorker(), crashed(program))
