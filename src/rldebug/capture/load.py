"""Load: what the program asks of the machine, from one look to the next, and what it was given to run on.

Host memory, time on the cores of this process and of those that it started, pages from disk; the GPU only where the
program uses CUDA. Everything is read off the system, nothing waits, and nothing is imported or initialised for it.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import torch

from rldebug.capture import backward
from rldebug.capture.device import _resident, read_device
from rldebug.capture.kernels import Kernels

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

# Who reads a variable, as it is imported: what is set after that has no effect on this process.
_READ_BY = {
    "OMP_NUM_THREADS": "torch",
    "MKL_NUM_THREADS": "torch",
    "OPENBLAS_NUM_THREADS": "numpy",
    "NUMBA_NUM_THREADS": "numba",
}
_GPU = ("allocated", "reserved", "gross", "utilisation", "temperature", "fan")
_HELPERS = (b"multiprocessing.resource_tracker", b"multiprocessing.forkserver", b"compile_worker")
_MOST = 1024  # processes


class Load:
    """Made right after torch is imported: what the environment holds by then is what torch has seen of it."""

    def __init__(self) -> None:
        self.children = 0  # processes of this Python's that work for it, at the last look
        self._workers = 0  # at most
        self._anomaly, self._profiler = False, ""
        self._variables = _variables()
        self._read = {name for name, module in _READ_BY.items() if module in sys.modules}
        self._exe = _exe("self")
        self._helps: dict[tuple[int, bytes], bool] = {}  # a process, and when it began: whether it is no worker
        self._last = self._totals()

    def look(self) -> dict[str, Any]:
        """What a Window says of the machine. Times and faults are since the last look."""
        self.notice()
        totals = self._totals()
        since = {name: max(value - self._last[name], 0) for name, value in totals.items()}
        self._last = totals
        self._workers = max(self._workers, self.children)
        gpu: dict[str, Any] = {}
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            seen = read_device()
            gpu = {name: getattr(seen, name) for name in _GPU}
        return {"resident": _resident() or 0, **since, **gpu}

    def notice(self) -> None:
        """Whether something is on that slows everything down. Takes two microseconds; best asked within an update."""
        self._anomaly = self._anomaly or (torch.is_anomaly_enabled() and not backward.remembers_lines())
        self._profiler = self._profiler or running_profiler()

    def facts(self) -> dict[str, Any]:
        """What a Host says."""
        from rldebug.evidence.machines.limits import read_limits

        now = _variables()
        changed = [name for name in _READ_BY if now.get(name) != self._variables.get(name)]
        cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        return {
            "cores": read_limits().usable,
            "threads": torch.get_num_threads(),
            "interop": torch.get_num_interop_threads(),
            "variables": now,
            "late": tuple(name for name in changed if name in now and name in self._read),
            "workers": self._workers,
            "gpu": torch.cuda.get_device_name() if cuda else "",
            "anomaly": self._anomaly,
            "profiler": self._profiler,
            "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        }

    def _totals(self) -> dict[str, float]:
        if resource is None:
            return {"cpu": time.process_time(), "children_cpu": 0.0, "faults": 0}
        children, self.children = self._of_children()
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "cpu": time.process_time(),
            "children_cpu": children + ended.ru_utime + ended.ru_stime,
            "faults": resource.getrusage(resource.RUSAGE_SELF).ru_majflt,
        }

    def _of_children(self) -> tuple[float, int]:
        """Seconds of those that live, with what they got from their own that have ended; and how many work."""
        ticks, workers = 0, 0
        for pid in _descendants():
            # After the name, which may hold anything: state, parent, …, utime, stime, cutime, cstime, …, begin.
            words = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            if len(words) < 20:
                continue  # it has ended meanwhile
            ticks += sum(int(each) for each in words[11:15])
            if words[0] != b"Z":
                workers += not self._is_helper(pid, words[19])
        return ticks / _TICKS, workers

    def _is_helper(self, pid: int, began: bytes) -> bool:
        """What Python and torch start for themselves, and programs of others."""
        key = (pid, began)
        if key not in self._helps:
            words = _read(f"/proc/{pid}/cmdline")
            self._helps[key] = _exe(pid) != self._exe or any(each in words for each in _HELPERS)
        return self._helps[key]


def running_profiler() -> str:
    """One that is on in this thread, and is not ours."""
    if torch._C._autograd._profiler_enabled() and not Kernels.looking:
        return "torch.profiler"
    monitoring = getattr(sys, "monitoring", None)  # where cProfile is from Python 3.12 on
    if monitoring is not None and (tool := monitoring.get_tool(monitoring.PROFILER_ID)):
        return str(tool)
    hook = sys.getprofile()
    if hook is not None:
        return "cProfile" if type(hook).__module__ in ("cProfile", "_lsprof") else "sys.setprofile"
    tracemalloc = sys.modules.get("tracemalloc")
    return "tracemalloc" if tracemalloc is not None and tracemalloc.is_tracing() else ""


def _variables() -> dict[str, str]:
    return {name: os.environ[name] for name in _READ_BY if name in os.environ}


# ── the processes below this one, as Linux lists them ───────────────────────────────────────────────────────────────

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def _descendants() -> list[int]:
    found: list[int] = []
    todo: list[int | str] = ["self"]
    while todo and len(found) < _MOST:
        process = todo.pop()
        try:
            tasks = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue  # it has ended meanwhile, or this is no Linux
        for task in tasks:  # a process belongs to the thread that started it
            started = [int(each) for each in _read(f"/proc/{process}/task/{task}/children").split()]
            found += started
            todo += started
    return found


def _exe(process: int | str) -> str:
    try:
        return os.readlink(f"/proc/{process}/exe")
    except OSError:
        return ""


def _read(file: str) -> bytes:
    try:
        handle = os.open(file, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(handle, 1 << 16)
    except OSError:
        return b""
    finally:
        os.close(handle)
