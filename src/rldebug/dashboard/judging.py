"""Has a worker process judge run folders, one at a time. It is started when it is needed, and ended when it is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_WORKER = (sys.executable, "-m", "rldebug.dashboard.judge")
_LONGEST = 64_000_000  # bytes of an answer


class JudgeError(Exception):
    """There was no answer; the message says why."""


class _Died(JudgeError):
    pass


class Judging:
    """`ask` waits for the answer: it is called from a thread of its own."""

    def __init__(self, worker: Sequence[str] = _WORKER, patience: float = 60.0, rest: float = 60.0) -> None:
        self.patience, self.rest = patience, rest  # seconds until it is killed; until it is ended
        self._worker = tuple(worker)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._last = time.monotonic()
        self._closed = False

    def ask(self, folder: Path) -> dict[str, Any]:
        """What `exhibit.told` says of it. Raises JudgeError."""
        with self._lock:
            if self._closed:
                raise JudgeError("the server is ending")
            question = json.dumps({"folder": str(folder.absolute())}).encode() + b"\n"
            try:
                try:
                    told = self._answer(self._begin(), question)
                except _Died:  # perhaps of something else, earlier: once more, with another
                    if self._closed:
                        raise
                    self._end()
                    told = self._answer(self._begin(), question)
            except JudgeError:
                self._end()
                raise
            finally:
                self._last = time.monotonic()
        if not isinstance(told, dict) or "problem" in told:
            raise JudgeError(str(told["problem"]) if isinstance(told, dict) else "the answer makes no sense")
        return told

    def tidy(self) -> None:
        """End the worker if nobody has asked it for a while."""
        if self._process is not None and self._lock.acquire(blocking=False):
            try:
                if time.monotonic() - self._last > self.rest:
                    self._end()
            finally:
                self._lock.release()

    def close(self) -> None:
        """Does not wait for an answer that is being worked on."""
        self._closed = True
        if (process := self._process) is not None:
            process.kill()
        with self._lock:
            self._end()

    @property
    def working(self) -> bool:
        return self._process is not None

    def _begin(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        # The folder that we were called in may hold a torch.py, or anything else by a name that is imported.
        env = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", **os.environ, "PYTHONSAFEPATH": "1"}
        try:
            self._process = subprocess.Popen(
                self._worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
            )
        except OSError as error:
            raise JudgeError(f"the process that looks at runs cannot be started: {error.strerror}") from None
        self._answer(self._process, b"")  # it says when it is there
        return self._process

    def _answer(self, process: subprocess.Popen[bytes], question: bytes) -> Any:
        assert process.stdin is not None and process.stdout is not None
        began = time.monotonic()
        timer = threading.Timer(self.patience, process.kill)  # its output ends with it
        timer.start()
        try:
            process.stdin.write(question)
            process.stdin.flush()
            line = process.stdout.readline(_LONGEST)
            if line.endswith(b"\n"):
                return json.loads(line)
        except (OSError, ValueError):
            pass
        finally:
            timer.cancel()
        if time.monotonic() - began >= self.patience:
            raise JudgeError(
                f"it took longer than {self.patience:.0f} seconds: try `rldebug report`, which has no limit"
            )
        raise _Died("the process that looks at it has died: try `rldebug report`, which says why")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass  # what was not written is of no use any more
        process.wait()
