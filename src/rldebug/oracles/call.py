"""One call of a user's function: on copies of its inputs, in silence, within a time limit, whatever it does."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECONDS = 2.0  # for one call: a small case takes a millisecond
FIRST = 10.0  # for the first one: it may import what it needs, and half an import is worse than none
_CALLED: set[Any] = set()  # the code of functions that came back once
_AGAIN = 0.1  # seconds, until the alarm rings once more


class TooLong(BaseException):
    """The call did not come back in time. No Exception: a function that catches those must not catch this."""


@dataclass(frozen=True)
class Raised:
    """What a call raised, in words, and the line of the user's code."""

    error: BaseException
    said: str
    line: int | None = None

    @property
    def took_too_long(self) -> bool:
        return isinstance(self.error, TooLong)


def call(
    function: Callable[..., Any],
    positional: Sequence[Any],
    named: Mapping[str, Any],
    *,
    seconds: float | None = None,
) -> Any:
    """What it returns, or Raised. Its prints and warnings are swallowed: it is called hundreds of times."""
    code = getattr(function, "__code__", None)
    if seconds is None:
        seconds = SECONDS if code in _CALLED else FIRST
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
            _limit(seconds),
        ):
            warnings.simplefilter("ignore")
            returned = function(*positional, **named)
        _CALLED.add(code)
        return returned
    except TooLong as error:
        return Raised(error, f"did not come back within {seconds:g} s")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also SystemExit: an oracle must survive any function
        return Raised(error, in_words(error), _line(error, function))


def in_words(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:200]}" if said else type(error).__name__


@contextlib.contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """An alarm, where there are such and we are in the main thread; else nothing stops the call."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    left = False

    def ring(_: int, frame: FrameType | None) -> None:
        # What is raised in a finalizer or a callback of the garbage collector is printed and lost, and a function may
        # catch everything: so it rings again and again.
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        if left or _collecting(frame):
            return
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        left = True
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _collecting(frame: FrameType | None) -> bool:
    callbacks = {getattr(each, "__code__", None) for each in gc.callbacks}
    while frame is not None:
        if frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False


def _line(error: BaseException, function: Callable[..., Any]) -> int | None:
    """The last line of the user's own code that the error passed: not one of a library's, nor of an adapter's."""
    own = getattr(getattr(function, "__code__", None), "co_filename", None)
    line, trace = None, error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        ours = os.path.abspath(file).startswith(_PACKAGE)
        if not ours and (file == own or "site-packages" not in file) and not file.startswith((sys.base_prefix, "<")):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
