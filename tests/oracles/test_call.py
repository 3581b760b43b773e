from __future__ import annotations

import gc
import signal
import sys
import threading
import time
import warnings

import pytest

from rldebug.oracles.call import Raised, call


def test_what_it_returns_comes_back_and_what_it_prints_does_not(capsys):
    def loud(x):
        print("hello")
        print("there", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return x + 1

    assert call(loud, [], {"x": 1}) == 2
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), AssertionError()])
def test_whatever_it_raises_is_told_in_words_with_the_line(error):
    def raises():
        raise error

    outcome = call(raises, [], {})
    assert isinstance(outcome, Raised)
    assert outcome.said.startswith(type(error).__name__)
    assert outcome.line == raises.__code__.co_firstlineno + 1
    assert not outcome.took_too_long


def test_ctrl_c_is_not_swallowed():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(stop, [], {})


def test_a_function_that_catches_even_this_is_ended():
    def endless():
        caught = 0
        while caught < 3:
            try:
                time.sleep(60)
            except BaseException:
                caught += 1
        time.sleep(60)

    assert call(endless, [], {}, seconds=0.1).took_too_long


def test_an_alarm_that_is_lost_in_a_finalizer_rings_again(monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: lost.append(each.exc_type))

    class Slow:
        def __del__(self):
            time.sleep(0.3)

    def endless():
        Slow()
        while True:
            time.sleep(0.01)

    assert call(endless, [], {}, seconds=0.1).took_too_long
    assert [each.__name__ for each in lost] == ["TooLong"] * len(lost) != []


@pytest.mark.parametrize("stubborn", [False, True])
def test_an_endless_loop_is_ended_even_where_it_catches_exceptions(stubborn):
    def endless():
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                if not stubborn:
                    raise

    before = signal.getsignal(signal.SIGALRM)
    began = time.perf_counter()
    outcome = call(endless, [], {}, seconds=0.2)
    assert outcome.took_too_long
    assert time.perf_counter() - began < 5
    assert signal.getsignal(signal.SIGALRM) is before


def test_outside_the_main_thread_there_is_no_alarm_and_it_still_works():
    found = []
    thread = threading.Thread(target=lambda: found.append(call(lambda: 3, [], {})))
    thread.start()
    thread.join()
    assert found == [3]


def test_an_alarm_that_rings_while_garbage_is_collected_is_not_lost(monkeypatch):
    # In a large process callbacks of weak references may be running, too: what is raised there is lost, and told.
    monkeypatch.setattr(sys, "unraisablehook", lambda each: None)

    def wait():
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            pass

    def busy(phase, info):
        wait()

    def collects():
        gc.collect()
        while True:
            pass

    gc.callbacks.append(busy)
    try:
        outcome = call(collects, [], {}, seconds=0.1)
    finally:
        gc.callbacks.remove(busy)
    assert isinstance(outcome, Raised)
    assert "did not come back" in outcome.said
