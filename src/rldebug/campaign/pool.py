"""Many tasks on the cores of this machine; `integrations.ray` does the same on a cluster.

Not an executor of Python's own: that breaks as a whole where one worker dies, and does not tell which task killed it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from rldebug.benchmark.execute import end_at_once, load
from rldebug.campaign.task import RETRIES, Failed, Work, said

_PR_SET_PDEATHSIG = 1
WARM = ("torch", "torch.distributions", "torch.optim", "gymnasium", "rldebug.commands")
_GRACE = 5.0  # seconds that a worker has to end what it started


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: Any = None
    tries: int = 0  # of its task, before this one


def spread(work: Work, tasks: Iterable[Any], jobs: int, warm: Sequence[str] = WARM) -> Iterator[tuple[Any, Any]]:
    """Each task with its result, in the order in which they are done. One whose worker dies is tried again.

    `warm`: what a worker imports before its first task; programs that are forked from it need not.
    """
    left, again = iter(tasks), deque[tuple[Any, int]]()
    workers: list[_Worker] = []
    try:
        while True:
            while len(workers) < jobs and (due := _next(left, again)) is not None:
                workers.append(_start(work, warm, *due))
            if not workers:
                return
            for ready in wait([each.pipe for each in workers]):
                worker = next(each for each in workers if each.pipe is ready)
                task, tries = worker.task, worker.tries
                try:
                    done, result = worker.pipe.recv()
                except (EOFError, OSError):
                    workers.remove(worker)
                    reason = _death(worker)
                    if tries < RETRIES:
                        again.append((task, tries + 1))
                    else:
                        yield task, Failed(f"{reason}, {tries + 1} times")
                    continue
                due = _next(left, again)
                if due is None:
                    workers.remove(worker)
                    worker.pipe.close()  # it ends when there is nothing more to come
                else:
                    _give(worker, *due)
                yield task, result if done else Failed(result)
    finally:
        _end(workers)


def _next(left: Iterator[Any], again: deque[tuple[Any, int]]) -> tuple[Any, int] | None:
    if again:
        return again.popleft()
    task = next(left, None)
    return None if task is None else (task, 0)


def _start(work: Work, warm: Sequence[str], task: Any, tries: int) -> _Worker:
    # Started anew, not forked: a worker forks once more for every program, and must have no threads.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(work, warm, theirs), daemon=False)
    process.start()
    theirs.close()  # else its end would not be seen here
    worker = _Worker(process, ours)
    _give(worker, task, tries)
    return worker


def _give(worker: _Worker, task: Any, tries: int) -> None:
    worker.task, worker.tries = task, tries
    try:
        worker.pipe.send(task)
    except OSError:
        pass  # it died meanwhile: to hear from it says so


def _death(worker: _Worker) -> str:
    worker.pipe.close()
    worker.process.join()
    code = worker.process.exitcode or 0
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
    return f"the process that did it {how}"


def _end(workers: Iterable[_Worker]) -> None:
    """After Ctrl-C: not to wait for what they are doing."""
    for each in workers:
        each.process.terminate()
    for each in workers:
        each.process.join(_GRACE)
        if each.process.is_alive():
            each.process.kill()
            each.process.join()


# ── in a worker ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _work(work: Work, warm: Sequence[str], pipe: Connection) -> None:
    _prepare()
    load(warm)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            told = True, work(task, True)
        except Exception as error:
            told = False, said(error)
        pipe.send(told)


def _prepare() -> None:
    if sys.platform == "linux":  # a worker whose parent was killed would wait for its next task for ever
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGTERM, lambda sign, frame: end_at_once())
    signal.signal(signal.SIGINT, lambda sign, frame: None)  # Ctrl-C reaches all: the one that started us decides
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
