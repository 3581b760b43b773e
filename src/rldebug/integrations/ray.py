"""Ray: the tasks of a benchmark on a cluster.

rldebug bench --ray             starts Ray here
rldebug bench --ray ADDRESS     joins a cluster; every node needs rldebug, torch and what the programs import
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rldebug.target import TargetError

Task = TypeVar("Task")
Result = TypeVar("Result")

HERE = "local"


def spread(
    work: Callable[[Task, bool], Result], tasks: Iterable[Task], address: str, jobs: int
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in the order in which they are done. `jobs`: processes, where Ray is started here."""
    try:
        ray: Any = importlib.import_module("ray")  # partly typed
    except ImportError as error:
        raise TargetError("--ray needs Ray: pip install 'rldebug[ray]'") from error
    own = address == HERE
    quiet: dict[str, Any] = {"include_dashboard": False, "logging_level": "error", "log_to_driver": False}
    try:
        ray.init(**({"num_cpus": jobs, **quiet} if own else {"address": address, **quiet}), ignore_reinit_error=True)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise TargetError(f"no Ray cluster answered at {address}: {error}") from error
    try:
        # A worker of Ray has threads of its own and must not fork: every program gets an interpreter.
        remote = ray.remote(num_cpus=1, max_retries=2)(lambda task: work(task, False))
        ahead = 2 * max(1, int(ray.cluster_resources().get("CPU", jobs)))
        waiting: dict[Any, Task] = {}
        left = iter(tasks)
        while True:
            while len(waiting) < ahead and (task := next(left, None)) is not None:
                waiting[remote.remote(task)] = task
            if not waiting:
                return
            done, _ = ray.wait(list(waiting))
            for each in done:
                yield waiting.pop(each), ray.get(each)
    finally:
        ray.shutdown()
