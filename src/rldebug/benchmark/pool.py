"""Many tasks on the cores of this machine; `integrations.ray` does the same on a cluster."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import Any, TypeVar

from rldebug.benchmark.execute import end_at_once, load

Task = TypeVar("Task")
Result = TypeVar("Result")

_PR_SET_PDEATHSIG = 1
_AHEAD = 2  # tasks handed out for each worker: so that Ctrl-C has little to wait for
_WARM = ("torch", "torch.distributions", "torch.optim", "gymnasium", "rldebug.commands")


def spread(work: Callable[[Task, bool], Result], tasks: Iterable[Task], jobs: int) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in the order in which they are done."""
    # Workers are started anew, not forked: each forks once more for every program, and must have no threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_warm) as pool:
        waiting: dict[Any, Task] = {}
        left = iter(tasks)
        try:
            while True:
                while len(waiting) < jobs * _AHEAD and (task := next(left, None)) is not None:
                    waiting[pool.submit(work, task, True)] = task
                if not waiting:
                    return
                for each in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(each), each.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():  # after Ctrl-C: not to wait for what they are doing
                worker.terminate()


def _warm() -> None:
    if sys.platform == "linux":  # a worker whose parent was killed would wait for its next task for ever
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGTERM, lambda sign, frame: end_at_once())
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    load(_WARM)
