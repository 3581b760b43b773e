import random
import signal
import threading
import time

import pytest

from rldebug.capture import sampler as module
from rldebug.capture.sampler import Sampler


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def sampled(work, pause=0.001):
    """Seconds by function, as the sampler sees them."""
    found = {}

    def seen(frame, seconds, now):
        name = frame.f_code.co_name
        found[name] = found.get(name, 0.0) + seconds

    watch = Sampler(seen, pause)
    watch.start()
    began = time.perf_counter()
    try:
        work()
    finally:
        seconds = time.perf_counter() - began
        watch.stop()
    return found, seconds, watch


def nap(seconds):
    time.sleep(seconds)


def sort():
    sorted(range(400_000), key=lambda each: -each)


def test_what_sleeps_computes_or_cannot_be_interrupted_is_seen_alike():
    def work():
        for _ in range(20):
            nap(0.02)
            sum(range(1_000_000))  # one call of C: it is seen when it returns

    found, seconds, watch = sampled(work)
    assert watch.way == "timer"
    assert found["nap"] == pytest.approx(0.4, rel=0.25)
    assert sum(found.values()) == pytest.approx(seconds, rel=0.2)


def test_the_program_keeps_its_generator_signals_and_timers():
    before = {each: signal.getsignal(each) for each in (signal.SIGALRM, signal.SIGPROF, signal.SIGINT, signal.SIGTERM)}
    random.seed(3)
    expected = random.Random(3).random()
    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(time.perf_counter()))
    try:
        found, _, _ = sampled(lambda: (signal.setitimer(signal.ITIMER_REAL, 0.05), spin(0.1)))
    finally:
        signal.signal(signal.SIGALRM, before[signal.SIGALRM])
    assert rung
    assert found
    assert random.random() == expected
    assert {each: signal.getsignal(each) for each in before} == before


def test_nothing_is_seen_after_it_has_stopped():
    seen = []
    watch = Sampler(lambda *args: seen.append(args), 0.001)
    watch.start()
    spin(0.05)
    watch.stop()
    count = len(seen)
    spin(0.05)
    assert count > 5
    assert len(seen) == count


def test_a_wait_for_another_thread_goes_on_where_it_was():
    ready = threading.Event()
    threading.Timer(0.1, ready.set).start()
    found, seconds, _ = sampled(lambda: ready.wait(5))
    assert 0.05 < seconds < 3  # the clock of the other thread began before
    assert sum(found.values()) > 0


def test_a_thread_looks_where_there_is_no_timer(monkeypatch):
    monkeypatch.setattr(module, "_free_signal", lambda: 0)
    found, _, watch = sampled(lambda: nap(0.2))
    assert watch.way == "thread"
    assert found["nap"] > 0.05


def spin_under(watch):
    """It may raise as soon as it is started."""
    watch.start()
    spin(5)


def test_what_is_to_be_raised_comes_out_of_the_program():
    def stop(frame, seconds, now):
        watch.raise_after = KeyError("enough")

    watch = Sampler(stop, 0.001)
    try:
        with pytest.raises(KeyError, match="enough"):
            spin_under(watch)
    finally:
        watch.stop()


def test_it_comes_out_also_where_a_thread_looks(monkeypatch):
    class Enough(BaseException):
        pass

    told = []

    def stop(frame, seconds, now):
        if not told:
            told.append(frame)
            watch.raise_after = Enough()

    monkeypatch.setattr(module, "_free_signal", lambda: 0)
    watch = Sampler(stop, 0.001)
    try:
        with pytest.raises(Enough):
            spin_under(watch)
    finally:
        watch.stop()


def test_a_program_that_may_not_go_deeper_is_spared():
    def too_deep(frame, seconds, now):
        raise RecursionError

    watch = Sampler(too_deep, 0.001)
    watch.start()
    spin(0.05)  # nothing comes out of it
    watch.stop()
    assert watch.spent > 0


def test_a_long_run_is_looked_at_less_often():
    watch = Sampler(lambda *_: None)
    pauses = [(watch._next_pause(since), watch.pause)[1] for since in (1.0, 4.0, 11.0, 31.0, 1.0)]
    assert pauses == [0.0025, 0.005, 0.01, 0.02, 0.02]


def test_samples_that_take_long_come_less_often(monkeypatch):
    """Their share is larger at the beginning; what a sample costs beside what can be timed counts too. Where there is
    room again, they come as often as before."""
    monkeypatch.setattr(module.time, "process_time", lambda: 20.0)
    watch = Sampler(lambda *_: None)
    watch.samples = 800  # 0.036 s, and 1.5 times what is timed, of 0.06 + 0.09 + 0.105 + 0.04

    def after_many(timed):
        watch.spent_cpu = timed
        for _ in range(1000):
            watch._next_pause(1.0)
        return watch.pause

    assert after_many(0.170) == 0.0025
    assert after_many(0.175) == 0.5
    assert after_many(0.170) == 0.0025


def test_one_in_eight_is_timed_and_a_long_one_says_nothing_about_the_others(monkeypatch):
    ticks = iter([0.0, 0.0001, 1.0, 2.0])
    watch = Sampler(lambda *_: None)
    watch._running = True
    monkeypatch.setattr(module.time, "thread_time", lambda: next(ticks))
    for _ in range(16):
        watch._interrupted(0, None)
    assert watch.samples == 16
    assert watch.spent_cpu == pytest.approx(8 * 0.0001 + 8 * 0.001)


def test_a_program_that_sleeps_is_looked_at_too(monkeypatch):
    """It computes next to nothing, and of that samples may take a share: half of the time that passed counts."""
    monkeypatch.setattr(module.time, "process_time", lambda: 0.1)
    watch = Sampler(lambda *_: None)
    watch.spent_cpu = 0.07
    pauses = [[watch._next_pause(since) and watch.pause for _ in range(100)][-1] for since in (1.5, 9.0)]
    assert pauses == [0.5, 0.005]
