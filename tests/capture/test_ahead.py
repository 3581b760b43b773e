"""Threads that act ahead of the learner: what they did is learned later, and the audit waits for it."""

import threading
import time

from rldebug.capture.timer import Timer
from rldebug.forensics.targets import fit_targets
from tests.programs.threaded import learn
from tests.watched import watched


def test_a_clock_of_one_thread_says_nothing_of_another():
    timer, inside, go_on = Timer(), threading.Event(), threading.Event()

    def other():
        with timer:
            inside.set()
            go_on.wait()

    until = time.thread_time() + 0.05
    while time.thread_time() < until:  # this thread is older than the other one
        pass
    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with timer:
        go_on.set()
        thread.join()
    assert timer.spent < 0.04


def test_the_formula_is_found_though_unrolls_wait_in_a_queue():
    _, script = watched(learn)
    fit = next(each for each in fit_targets(script) if each.name == "v-trace")
    assert abs(fit.gamma - 0.95) < 1e-4
    assert fit.rightly("terminated")
    assert fit.rightly("rollout")
    assert not fit.pushes


def test_targets_that_run_over_ends_are_seen():
    _, script = watched(lambda: learn(masked=False))
    assert any(each.ending("terminated", "follows") for each in fit_targets(script))
