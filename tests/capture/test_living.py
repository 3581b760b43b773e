"""The objects there are: asked for only where no other thread may be in the middle of making one."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from rldebug.capture.living import living


class Marked:
    pass


def test_everything_that_lives_where_there_is_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # the test runner may have threads of its own
    marked = Marked()
    assert any(each is marked for each in living() or ())


def test_nothing_is_asked_for_while_another_thread_runs() -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        assert living() is None
    finally:
        done.set()
        other.join()


def test_why_a_tuple_that_is_being_filled_must_not_be_held() -> None:
    """What happens to the program otherwise. An interpreter that does not mind needs no care."""
    held = []

    def parts() -> Iterator[int]:
        for number in range(20):
            if number == 12:  # the tuple has grown beyond what was guessed, and is known to the collector
                held.extend(each for each in gc.get_objects() if type(each) is tuple)
            yield number

    with pytest.raises(SystemError, match="bad argument to internal function"):
        tuple(parts())
