"""Ray: the tasks of a campaign on a cluster.

rldebug sweep --ray             starts Ray here
rldebug sweep --ray ADDRESS     joins a cluster; every node needs rldebug, torch and what the programs import
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from rldebug.campaign.pool import spread as on_this_machine
from rldebug.campaign.task import RETRIES, Failed, Spread, Work, said
from rldebug.target import TargetError

HERE = "local"
_AHEAD = 2  # tasks handed out for each CPU: so that Ctrl-C has little to wait for


def spreading(jobs: int, ray: str | None) -> Spread:
    """On the cores of this machine; on Ray, where that was asked for. The results are the same."""
    return partial(on_this_machine, jobs=jobs) if ray is None else partial(spread, address=ray, jobs=jobs)


def spread(work: Work, tasks: Iterable[Any], address: str, jobs: int) -> Iterator[tuple[Any, Any]]:
    """Each task with its result, in the order in which they are done. `jobs`: processes, where Ray is started here."""
    ray = _ray()
    quiet: dict[str, Any] = {"include_dashboard": False, "logging_level": "error", "log_to_driver": False}
    if address == HERE:
        how = {"address": "local", "num_cpus": jobs, **quiet}
    else:
        how = {"address": address, "logging_level": "error", "log_to_driver": False}
    try:
        ray.init(**how, ignore_reinit_error=True)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise TargetError(f"no Ray cluster answered at {address}: {said(error)}") from error
    try:
        # A worker of Ray has threads of its own and must not fork: every program gets an interpreter.
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(lambda task: work(task, False))
        ahead = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", jobs)))
        waiting: dict[Any, Any] = {}
        left = iter(tasks)
        while True:
            while len(waiting) < ahead and (task := next(left, None)) is not None:
                waiting[remote.remote(task)] = task
            if not waiting:
                return
            done, _ = ray.wait(list(waiting))
            for each in done:
                yield waiting.pop(each), _result(ray, each)
    finally:
        ray.shutdown()


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:  # the task itself raised
        return Failed(said(getattr(error, "cause", None) or error))
    except ray.exceptions.RayError as error:  # its worker, or its machine, died once more than it is tried
        return Failed(f"the process that did it died, {RETRIES + 1} times: {type(error).__name__}")


def _ray() -> Any:
    try:
        return importlib.import_module("ray")  # partly typed
    except ImportError as error:
        raise TargetError("--ray needs Ray: pip install 'rldebug[ray]'") from error
