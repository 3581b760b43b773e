"""Sampler: interrupts the program at random moments, and shows where it is.

A moment is asked for by a timer of the kernel that signals the main thread; Python calls the handler between two
instructions of the program, as soon as the C function under way returns. A thread that sleeps and looks would see the
program mostly where it gives up the interpreter's lock, which is not where its time goes.

The pauses are drawn from an exponential distribution: then every moment is as likely as any other, also right after a
long call that could not be interrupted. A sample stands for the mean pause, and for how much later than asked it came:
that time went into the very call that held it up.
"""

from __future__ import annotations

import atexit
import ctypes
import math
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

Seen = Callable[[FrameType, float, float], None]
"""The frame that was interrupted, the seconds it stands for, and the time."""

PAUSE = 0.0025  # seconds between two samples at the start; a long run is looked at less often
_SLOWER = ((3.0, 0.005), (10.0, 0.01), (30.0, 0.02))  # after so many seconds; by then there are thousands
_LONGEST, _SELDOM = 0.5, 0.05
_SHARES = ((3.0, 0.03), (10.0, 0.015), (math.inf, 0.004))  # of so many seconds of the program: those of samples
_AT_ONCE = 0.06
_AWAKE = 0.5  # of the time that passed counts, where the program computes for less of it
_WEIGHED = 8  # samples, of which one is timed: to ask the system what a thread has computed is a good part of one
_MORE = 1.4  # from one pause to the next, where samples take too much
_MOST = 0.001  # seconds of one; a collection of garbage that was due says nothing about the others
# What no clock in here can tell, measured from outside: CPU seconds of a signal, most of it the timer of a virtual
# machine; and the caches that a sample leaves cold, as times what is timed.
_SIGNAL, _COLD = 45e-6, 1.5
_SHORTEST = 50e-6
_DRAWN = 1024  # pauses, drawn once: to draw one takes as long as a sample


class Sampler:
    """`prepare` in the main thread; `seen` is called there. Nothing of the program's is touched: no global generator,
    no signal that it may know (one of the real-time signals is used), no timer that it may set."""

    def __init__(self, seen: Seen, pause: float = PAUSE) -> None:
        self.seen, self.pause, self._least = seen, pause, pause
        self.spent = self.spent_cpu = 0.0  # seconds in here
        self.samples = 0
        self.way = ""  # how it samples: timer, or thread
        self.raise_after: BaseException | None = None  # in the program, once the sample under way is dealt with
        drawn = random.Random(11)
        self._pauses = [max(drawn.expovariate(1.0), _SHORTEST / pause) for _ in range(_DRAWN)]
        self._place = 0
        self._began = self._due = self._cpu_before = 0.0
        self._timer: _Timer | None = None
        self._signal = 0
        self._running = False

    def prepare(self) -> None:
        """Only the main thread may handle signals; to start can be done by any."""
        number = _free_signal()
        if number and threading.current_thread() is threading.main_thread():
            self._timer = _Timer.made(number)
        if self._timer is None:
            self.way = "thread"
            return
        self.way, self._signal = "timer", number
        signal.signal(number, self._interrupted)
        signal.siginterrupt(number, False)  # system calls of C libraries go on where they can
        atexit.register(self.stop)  # a signal that comes when Python is gone would find no handler

    def start(self) -> None:
        if not self.way:
            self.prepare()
        self._began, self._cpu_before = time.perf_counter(), time.process_time()
        self._running = True
        if self._timer is None:
            threading.Thread(target=self._look_in_turns, name="rldebug sampler", daemon=True).start()
        self._arm()

    def stop(self) -> None:
        self._running = False
        atexit.unregister(self.stop)
        if self._timer is not None:
            self._timer.delete()
            self._timer = None
            if threading.current_thread() is threading.main_thread():  # os._exit() may be called in another
                # Not the default, which ends the process: one signal may still be under way.
                signal.signal(self._signal, signal.SIG_IGN)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        now = time.perf_counter()
        if not self._running:
            return
        weighed = not self.samples % _WEIGHED
        cpu = time.thread_time() if weighed else 0.0
        try:
            if frame is not None:
                self.seen(frame, self.pause + max(now - self._due, 0.0), now)
            self._arm()
        except RecursionError:
            pass  # the program is as deep as it may be: the timer rings again by itself
        finally:
            self.samples += 1
            self.spent += time.perf_counter() - now
            if weighed:
                self._weigh(time.thread_time() - cpu)
        if self.raise_after is not None:
            error, self.raise_after = self.raise_after, None
            raise error

    def _arm(self) -> None:
        if self._timer is None:
            return
        now = time.perf_counter()
        pause = self._next_pause(now - self._began)
        self._due = now + pause
        self._timer.arm(pause)

    def _weigh(self, seconds: float) -> None:
        self.spent_cpu += _WEIGHED * min(seconds, _MOST)

    def _next_pause(self, since: float) -> float:
        if not self.samples % _WEIGHED or self.pause > _SELDOM:
            for after, pause in _SLOWER:
                if since > after:
                    self._least = max(self._least, pause)
            if self._cost() > _AT_ONCE + _allowed(max(time.process_time() - self._cpu_before, _AWAKE * since)):
                self.pause = min(_MORE * self.pause, _LONGEST)
            else:
                self.pause = max(self.pause / _MORE, self._least)
        self._place = (self._place + 1) % _DRAWN
        return self._pauses[self._place] * self.pause

    def _cost(self) -> float:
        """CPU seconds of the samples until now."""
        return _COLD * self.spent_cpu + _SIGNAL * self.samples

    # Where there is no such timer (macOS, Windows) a thread has to do. It sees too much of what releases the lock.

    def _look_in_turns(self) -> None:
        main = threading.main_thread().ident
        while self._running:
            pause = self._next_pause(time.perf_counter() - self._began)
            due = time.perf_counter() + pause
            time.sleep(pause)
            now, cpu = time.perf_counter(), time.thread_time()
            frame = sys._current_frames().get(main or 0)
            if frame is not None and self._running:
                self.seen(frame, self.pause + max(now - due, 0.0), now)
            del frame
            if not self.samples % _WEIGHED:
                self._weigh(time.thread_time() - cpu)
            self.samples += 1
            self.spent += time.perf_counter() - now
            if self.raise_after is not None:
                error, self.raise_after = self.raise_after, None
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main or 0), ctypes.py_object(type(error)))


def _allowed(seconds: float) -> float:
    """CPU seconds for samples of a program that has run for so long."""
    found, since = 0.0, 0.0
    for until, share in _SHARES:
        found += share * max(min(seconds, until) - since, 0.0)
        since = until
    return found


def _free_signal() -> int:
    """One that nobody handles."""
    if sys.platform != "linux" or not hasattr(signal, "SIGRTMAX"):
        return 0
    for number in range(signal.SIGRTMAX - 1, signal.SIGRTMIN + 2, -1):
        try:
            if signal.getsignal(number) == signal.SIG_DFL:
                return int(number)
        except ValueError:
            continue
    return 0


# ── the timer: POSIX timers are neither inherited by a forked process nor kept by exec ──────────────────────────────


class _Event(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("rest", ctypes.c_char * 44),
    )


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Times(ctypes.Structure):
    _fields_ = (("every", _Time), ("first", _Time))


_THREAD = 4  # SIGEV_THREAD_ID: that thread alone is signalled, nobody else's system calls are cut short


class _Timer:
    def __init__(self, library: Any, timer: Any) -> None:
        self._timer, self._delete = timer, library.timer_delete
        self._set, self._times = library.timer_settime, _Times()
        self._times.every.seconds = 1  # it is armed anew long before, but where that failed
        self._given = ctypes.byref(self._times)

    @staticmethod
    def made(number: int) -> _Timer | None:
        # PyDLL: the interpreter's lock is kept. To give it up at every sample would make threads take turns there.
        timer, event = ctypes.c_void_p(), _Event(None, number, _THREAD, threading.get_native_id())
        for name in (None, "librt.so.1"):  # before glibc 2.34 it is in a library of its own
            try:
                library = ctypes.PyDLL(name)
                if library.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)) == 0:
                    return _Timer(library, timer)
            except (OSError, AttributeError):
                continue
        return None

    def arm(self, pause: float) -> None:
        first = self._times.first
        first.seconds = int(pause)
        first.nanoseconds = max(int(1e9 * (pause - int(pause))), 1)
        self._set(self._timer, 0, self._given, None)

    def delete(self) -> None:
        self._delete(self._timer)
