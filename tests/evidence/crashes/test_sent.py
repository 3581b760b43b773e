"""What is looked at in an object that could not be sent: enough to find it, and nothing that runs the program."""

from __future__ import annotations

import logging
import multiprocessing
import threading
import time
import types

import pytest
import torch

from rldebug.evidence.crash import crash_of
from rldebug.evidence.crashes.inside import walk
from rldebug.evidence.crashes.views import is_view, shared_in


def sent(thing):
    ours, _ = multiprocessing.Pipe()
    with pytest.raises(Exception) as caught:  # noqa: PT011
        ours.send(thing)
    return crash_of(caught.value).between["sent"]


class Holder:
    def __init__(self, **held):
        self.__dict__.update(held)


def test_the_way_begins_at_the_name_in_the_line_that_sends():
    agent = Holder(parts={"log": [None, threading.Lock()]})
    told = sent((1, agent))
    assert told["path"] == "thing[1].parts['log'][1]"
    assert told["type"] == "_thread.lock"


def test_a_logger_goes_by_its_name_and_is_not_blamed_for_its_locks():
    log = logging.getLogger("training")
    log.addHandler(handler := logging.StreamHandler())
    try:
        agent = Holder(log=log, deeper=Holder(inner=Holder(lock=threading.RLock())))
        assert sent(agent)["path"] == "thing.deeper.inner.lock"
    finally:
        log.removeHandler(handler)


class Touchy:
    """Whatever is asked of it runs the program."""

    asked: list[str] = []  # noqa: RUF012

    def __init__(self):
        self.__dict__["inner"] = Holder(lock=threading.Lock())

    @property
    def shape(self):
        self.asked.append("shape")
        raise AssertionError

    def __getattr__(self, name):
        self.asked.append(name)
        raise AttributeError(name)

    def __iter__(self):
        self.asked.append("iter")
        raise AssertionError

    def __len__(self):
        self.asked.append("len")
        raise AssertionError


def test_nothing_of_the_program_runs():
    touchy = Touchy()
    ours, _ = multiprocessing.Pipe()
    with pytest.raises(TypeError) as caught:
        ours.send([touchy])
    asked = len(Touchy.asked)  # by pickle
    assert crash_of(caught.value).between["sent"]["path"] == "touchy.inner.lock"
    assert any(type(each.value).__name__ == "lock" for each in walk([touchy], opaque=True))
    assert len(Touchy.asked) == asked


def test_a_large_object_is_looked_at_for_a_bounded_time():
    rows = [{"obs": [float(i)] * 300, "next": Holder(value=[i])} for i in range(3000)]
    ring = Holder(rows=rows)
    ring.itself = ring
    began = time.monotonic()
    reached = sum(1 for _ in walk(ring, by_value=True, opaque=True))
    assert reached <= 20_000
    assert time.monotonic() - began < 2


def test_what_a_process_shares_is_found_by_its_memory():
    table = torch.zeros(4, 3)
    rows = [table[0], table[1], torch.zeros(3)]
    told = shared_in(types.SimpleNamespace(rows=rows), {id(rows): "rows"})
    assert [each["path"] for each in told] == ["rows[0]", "rows[1]"]
    assert all(each["view"] for each in told)
    assert shared_in([table.clone(), table], {}) == []


def test_one_end_of_a_pipe_that_is_given_twice_is_found():
    ours, theirs = multiprocessing.Pipe()
    kept, theirs._handle = theirs._handle, ours._handle
    try:
        assert [each["path"] for each in shared_in([ours, theirs], {})] == ["[0]", "[1]"]
    finally:
        theirs._handle = kept


def test_a_part_of_a_larger_memory_is_a_view():
    assert is_view(torch.zeros(4, 3)[0])
    assert is_view(torch.zeros(4, 3).T)
    assert not is_view(torch.zeros(4, 3)[0].clone())
