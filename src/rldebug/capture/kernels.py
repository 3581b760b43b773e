"""Kernels: how many a single update launches on the GPU, how long they keep it busy, and how long the update takes.

Some windows with nothing in the way give the time, and one under torch's profiler gives launches and kernels: to note
every launch makes an update of small ones take three times as long. Nothing is looked at where CUDA is not in use.
"""

from __future__ import annotations

import gc
import os
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import torch
from torch.autograd import profiler as torch_profiler

from rldebug.capture.nvtx import TOOLS
from rldebug.capture.stand_in import out_of_reach

_LAUNCHES = (
    "cudaLaunch",
    "cuLaunch",
    "cudaGraphLaunch",
    "cuGraphLaunch",
    "hipLaunch",
    "hipGraphLaunch",
    "hipExtLaunch",
)
_TIMED = 3  # updates
_STARTS = ("_prepare_profiler", "_enable_profiler")
_TEARDOWN = "TEARDOWN_CUPTI"


class Kernels:
    """`begin` and `end` around updates, until it is `done`."""

    looking: ClassVar[bool] = False  # the profiler that is on is this one

    def __init__(self) -> None:
        self.found: dict[str, float] = {}
        self.broken = ""  # the traceback, where it could not be done
        self.done = any(name in os.environ for name in TOOLS)  # only one may listen to the driver
        self._seconds: list[float] = []
        self._began = 0.0
        self._open = False
        self._profile: Any = None
        self._before: list[tuple[str, Any]] = []

    def begin(self) -> None:
        if self.done or self._open or not torch.cuda.is_initialized() or out_of_reach():  # type: ignore[no-untyped-call]
            return
        timed = len(self._seconds) >= _TIMED
        if torch._C._autograd._profiler_enabled() or (timed and _programs_own()):
            self.done = True  # the program looks itself, or is about to; two cannot
            return
        torch.cuda.synchronize()  # what is still under way is of the update before
        if timed:
            try:
                self._start()
            except Exception:
                self.broken = traceback.format_exc()
                self._give_up()
                return
        self._open = True
        self._began = time.perf_counter()

    def end(self) -> None:
        if not self._open:
            return
        self._open = False
        try:
            torch.cuda.synchronize()
        except Exception:  # of a kernel of the program's, which will be told so by what it does next
            self._give_up()
            return
        seconds = time.perf_counter() - self._began
        if self._profile is None:
            self._seconds.append(seconds)
            return
        self.done = True
        try:
            self._stop()
            events = [(each.name, each.device_type, each.time_range) for each in self._profile.function_events]
            self.found = _summary(events, sorted(self._seconds)[len(self._seconds) // 2])
        except Exception:
            self.broken = traceback.format_exc()
        self._profile = None

    def _start(self) -> None:
        # What listens to the driver stays there and makes every launch slower, unless torch is told to take it away.
        # Told to C only, and left there: torch asks again, in a thread of its own, when that has been done.
        if _TEARDOWN not in os.environ:
            os.putenv(_TEARDOWN, "1")
        # Not torch.profiler's, which imports the compiler, and warns of what nobody asked for.
        self._profile = torch_profiler.profile(use_cpu=False, use_device="cuda", use_kineto=True)
        self._profile.__enter__()
        Kernels.looking = True
        for name in _STARTS:
            before = getattr(torch_profiler, name)
            self._before.append((name, before))
            setattr(torch_profiler, name, self._yielding(before))

    def _yielding(self, before: Callable[..., Any]) -> Callable[..., Any]:
        """The program switches its own profiler on: ours goes."""

        def start(*args: Any, **kwargs: Any) -> Any:
            if self._before:
                self._give_up()
            return before(*args, **kwargs)

        return start

    def _stop(self) -> None:
        for name, before in self._before:
            setattr(torch_profiler, name, before)
        self._before = []
        Kernels.looking = False
        self._profile.__exit__(None, None, None)

    def _give_up(self) -> None:
        self.done, self._open = True, False
        try:
            self._stop()
        except Exception:
            pass  # it had not started
        self._profile = None


def _programs_own() -> bool:
    """A profiler of the program's may be getting ready, which nobody can see but by finding it. And graphs of CUDA do
    not go well with a profiler that comes and goes; who has them does not wait for launches either."""
    kinds = (torch.profiler.profile, torch_profiler.profile, torch.cuda.CUDAGraph)
    return any(issubclass(type(each), kinds) for each in gc.get_objects())


def _summary(events: Iterable[tuple[str, Any, Any]], seconds: float) -> dict[str, float]:
    """`kernel_seconds` is the time in which at least one kernel, or a copy, was at work."""
    launches, busy = 0, []
    for name, device, span in events:
        if device == torch._C._autograd.DeviceType.CUDA:
            busy.append((span.start, span.end))
        elif name.startswith(_LAUNCHES):
            launches += 1
    if not busy:
        return {}
    total, until = 0.0, float("-inf")
    for start, end in sorted(busy):
        total += max(end - max(start, until), 0.0)
        until = max(until, end)
    return {"launches": launches or len(busy), "kernel_seconds": total / 1e6, "seconds": seconds}
