"""Has a run that goes on looked at in a process of its own: `rldebug run --live`.

The worker (dashboard/judge.py) is no child of the program, whose own `os.wait()` must not come upon it, and has a
session of its own: Ctrl-C is for the program. It ends when its input does, however the program ends.
"""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from rldebug.finding import Report

# What lies where the program was called is not ours to import; configurations and paths are as seen from there.
_WORKER = (
    sys.executable,
    "-c",
    "import sys; sys.path[:] = filter(None, sys.path); from rldebug.dashboard.judge import main; main()",
)
_DETACH = """
import os, sys
if not os.fork():
    os.setsid()
    os.execv(sys.argv[1], sys.argv[1:])
"""
_THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_REST = 3.0  # seconds, at least, from an answer to the next question
_SHARE = 0.03  # of the wall clock that reading answers may take in the program
_OFTEN = 0.25  # seconds, after which it is worth asking whether there is an answer
_AT_ONCE = 0.02  # seconds, where half an answer is there: the other half waits for room
_LONGEST = 64_000_000  # bytes of an answer


class Looking:
    """The diagnosis of a run that goes on, made in a process of its own; the program never waits for it."""

    def __init__(self, folder: Path, worker: Sequence[str] = _WORKER) -> None:
        """Raises OSError where it cannot be started."""
        self.failed = ""  # why there will be none any more
        self.due = 0.0  # time.monotonic() before which `poll` does nothing: who knows the time need not call
        self._question = json.dumps({"folder": str(folder.absolute())}).encode() + b"\n"
        self._heard = bytearray()
        self._asked: float | None = time.monotonic()  # it says by itself when it is ready
        self._warm = False
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                _start(worker, theirs.fileno())
            ours.setblocking(False)
            self._inode = os.fstat(ours.fileno()).st_ino
        except BaseException:
            ours.close()
            raise
        self._socket: socket.socket | None = ours
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)

    def poll(self) -> Report | None:
        """A new one, where it is there by now. Never waits, and never raises."""
        if time.monotonic() < self.due or not self._lock.acquire(blocking=False):
            return None
        try:
            return self._poll()
        except (EOFError, ConnectionError):
            self._fail("the process that looks has died")
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            self._lock.release()
        return None

    def close(self) -> None:
        """The worker ends when it has done what it is at."""
        self.due = math.inf
        ours, self._socket = self._ours(), None
        if ours is not None:
            with ours:
                try:
                    ours.shutdown(socket.SHUT_RDWR)  # also where another process has got hold of it
                except OSError:
                    pass  # it is gone

    def _poll(self) -> Report | None:
        ours = self._ours()
        if ours is None:
            self.due = math.inf
            return None
        report = None
        if self._asked is not None and self._whole(ours):
            report = self._answer()
        elif self._asked is not None:
            self.due = time.monotonic() + (_AT_ONCE if self._heard else _OFTEN)
        if self._asked is None and time.monotonic() >= self.due:
            self._asked = time.monotonic()
            self.due = self._asked + _OFTEN
            # Without the signal that would end a program which does not ignore it.
            ours.send(self._question, getattr(socket, "MSG_NOSIGNAL", 0))
        return report

    def _answer(self) -> Report | None:
        began = time.monotonic()
        answer = json.loads(self._heard)
        if not isinstance(answer, dict):
            raise ValueError("the answer makes no sense")
        report = Report.from_dict(answer["report"]) if "report" in answer else None  # else there is nothing to say yet
        now = time.monotonic()
        if answer:
            took = now - (self._asked or now) if self._warm else 0.0  # most of the first goes into importing the rules
            self.due = now + max(_REST, 2 * took, (now - began) / _SHARE)
            self._warm = True
        self._heard.clear()
        self._asked = None
        return report

    def _whole(self, ours: socket.socket) -> bool:
        """Read what is there; whether that is all of an answer."""
        while len(self._heard) < _LONGEST:
            try:
                data = ours.recv(1 << 20)
            except BlockingIOError:
                return self._heard.endswith(b"\n")
            if not data and self._heard.endswith(b"\n"):
                return True  # its last word
            if not data:
                raise EOFError
            self._heard += data
        raise ValueError("the answer is too long")

    def _ours(self) -> socket.socket | None:
        """A program may close every file it can think of, and what it opens next has our number."""
        ours = self._socket
        if ours is None:
            return None
        try:
            if os.fstat(ours.fileno()).st_ino == self._inode:
                return ours
        except OSError:
            pass
        ours.detach()
        self._socket = None
        self.failed = "the program has closed the way to the process that looks"
        return None

    def _fail(self, why: str) -> None:
        self.close()
        self.failed = self.failed or why

    def _in_child(self) -> None:
        """A forked process may outlive the program, and must not keep the worker waiting."""
        self._lock = threading.Lock()  # a thread that is not there any more may hold it
        self.due = math.inf
        ours, self._socket = self._ours(), None
        if ours is not None:
            ours.close()


def _start(worker: Sequence[str], pipe: int) -> None:
    try:
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _DETACH, *worker],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            check=True,
            env={**os.environ, **_THREADS},
        )
    except subprocess.SubprocessError as error:
        raise OSError(f"the process that looks cannot be started: {error}") from None
