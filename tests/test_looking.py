"""A run that goes on is looked at by another process: nobody waits for it, and nobody meets it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rldebug.finding import Finding, Report
from rldebug.looking import Looking
from tests.apart import apart

TEXTS = {"message": "m", "seen": "s", "expected": "e", "help": "h"}
REPORT = Report("report", (Finding("OPT001", "n", "optimizer", "error", confidence=0.99, **TEXTS),), ("OPT001",))
WORKER = """
import json, os, sys, time

def touch(name):
    open(os.path.join(here, name), "w").close()

here, report, how = sys.argv[1:]
try:
    print("{}", flush=True)
    for n, line in enumerate(sys.stdin):
        assert json.loads(line) == {"folder": here}
        if how == "dies" and n == 1:
            break
        answer = {"report": json.loads(report), "much": "x" * (800_000 if how == "much" else 0)}
        answer = {"problem": "nothing yet"} if how == "nothing" and not n else [] if how == "odd" else answer
        text = json.dumps(answer) + "\\n"
        if how == "slow":
            print(text[:100], end="", flush=True)
            while not os.path.exists(os.path.join(here, "go on")):
                time.sleep(0.01)
            text = text[100:]
        print(text, end="", flush=True)
        if how == "gone":
            break
finally:
    os.close(0)
    os.close(1)
    touch("ended")
    os._exit(0)
"""


def worker(folder: Path, how: str = "") -> list[str]:
    return [sys.executable, "-c", WORKER, str(folder), json.dumps(REPORT.to_dict()), how]


@pytest.fixture
def looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Looking]]:
    monkeypatch.setattr("rldebug.looking._REST", 0.0)
    made: list[Looking] = []

    def start(how: str = "") -> Looking:
        made.append(Looking(tmp_path, worker(tmp_path, how)))
        return made[-1]

    yield start
    for each in made:
        each.close()


def until(true: Callable[[], Any]) -> Any:
    end = time.monotonic() + 30
    while not (found := true()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)
    return found


def forked(program: Callable[[], int]) -> int:
    child = os.fork()
    if not child:
        try:
            os._exit(program())
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_what_was_found_comes_when_it_is_there(looking: Any) -> None:
    made = looking()
    assert until(made.poll) == REPORT
    assert until(made.poll) == REPORT  # asked again
    assert made.failed == ""


def test_until_something_was_seen_there_is_no_report(looking: Any) -> None:
    assert until(looking("nothing").poll) == REPORT


def test_after_an_answer_it_rests(tmp_path: Path) -> None:
    made = Looking(tmp_path, worker(tmp_path))
    until(made.poll)
    assert 2.0 < made.due - time.monotonic() <= 3.0
    made.close()


def test_an_answer_larger_than_a_pipe_holds_comes_in_pieces(looking: Any) -> None:
    assert until(looking("much").poll) == REPORT


def test_half_an_answer_is_waited_for_by_nobody(looking: Any, tmp_path: Path) -> None:
    made = looking("slow")
    until(lambda: made.poll() or made._heard)
    for _ in range(20):
        made.due = 0.0
        assert made.poll() is None
    (tmp_path / "go on").touch()
    assert until(made.poll) == REPORT


def test_one_that_dies_is_not_asked_again(looking: Any) -> None:
    made = looking("dies")
    until(made.poll)
    until(lambda: made.poll() or made.failed)
    assert made.failed == "the process that looks has died"
    assert made.poll() is None
    assert made.due == float("inf")


def test_an_answer_that_makes_no_sense_is_the_last(looking: Any) -> None:
    made = looking("odd")
    until(lambda: made.poll() or made.failed)
    assert made.failed == "ValueError: the answer makes no sense"


def test_one_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Looking(tmp_path, [str(tmp_path / "no such program")])
    until(lambda: made.poll() or made.failed)
    monkeypatch.setattr("rldebug.looking._DETACH", "raise SystemExit(1)")
    with pytest.raises(OSError, match="cannot be started"):
        Looking(tmp_path, worker(tmp_path))


def test_closing_ends_it(looking: Any, tmp_path: Path) -> None:
    made = looking()
    until(made.poll)
    made.close()
    until((tmp_path / "ended").exists)
    assert made.poll() is None
    assert made.failed == ""


@apart
def test_it_is_no_child_of_the_program(looking: Any) -> None:
    until(looking().poll)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_it_ends_with_the_program_however_long_a_forked_process_lives(tmp_path: Path) -> None:
    def program() -> int:
        Looking(tmp_path, worker(tmp_path))
        if not os.fork():
            until((tmp_path / "ended").exists)
        return 0  # as if killed: nothing is closed

    assert forked(program) == 0
    until((tmp_path / "ended").exists)


def test_a_program_that_a_broken_pipe_would_end_lives_on(looking: Any, tmp_path: Path) -> None:
    def program() -> int:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        made = looking("gone")
        assert until(made.poll) == REPORT
        until((tmp_path / "ended").exists)
        until(lambda: made.poll() or made.failed)
        return 7 if made.failed == "the process that looks has died" else 8

    assert forked(program) == 7


def test_a_program_that_closes_every_file_keeps_those_it_opens_next(looking: Any) -> None:
    made = looking()
    until(made.poll)
    here, there = socket.socketpair()
    with here, there:
        number = made._socket.fileno()
        os.dup2(here.fileno(), number)  # closed, and the number given away
        there.send(b"for the program")
        made.due = 0.0
        assert made.poll() is None
        assert made.failed == "the program has closed the way to the process that looks"
        made.close()
        assert os.read(number, 100) == b"for the program"
        os.close(number)
