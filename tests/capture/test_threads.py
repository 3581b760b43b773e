import multiprocessing
import threading

import pytest
from torch import nn

from rldebug.capture import threads
from tests.capture.fake import listening


def work(*_):
    pass


def test_a_thread_is_noted_with_what_it_does_and_what_it_is_handed():
    net = nn.Linear(2, 2).share_memory()
    with listening(threads) as session:
        worker = threading.Thread(target=work, args=(1, {"net": net}), daemon=True)
        worker.start()
        worker.join()
    (note,) = session.noted("thread")
    assert (note["what"], note["daemon"]) == ("thread", True)
    assert note["does"].endswith("work")
    assert note["line"][0].endswith("test_threads.py")
    assert note["networks"] == [{"name": "Linear", "shared": True}]


def test_a_process_is_noted_and_says_nothing_itself():
    with listening(threads) as session:
        process = multiprocessing.get_context("fork").Process(target=work)
        process.start()
        process.join()
    (note,) = session.noted("thread")
    assert (note["what"], note["method"]) == ("process", "fork")
    assert process.exitcode == 0


def test_a_thousand_threads_of_one_line_are_a_few_notes():
    with listening(threads) as session:
        for _ in range(200):
            worker = threading.Thread(target=work)
            worker.start()
            worker.join()
    assert [each["times"] for each in session.noted("thread")] == [1, 2, 3, 4, 8, 16, 32, 64, 128]


def test_a_thread_that_cannot_be_started_twice_still_says_so():
    original = threading.Thread.start
    with listening(threads):
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        with pytest.raises(RuntimeError, match="once"):
            worker.start()
    assert threading.Thread.start is original
