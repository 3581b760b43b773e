"""NVTX: the parts of a training loop as named ranges, which Nsight Systems draws above the kernels that they launch.

Without CUDA nothing is called, and where no such tool has started the program nothing is put in place.
"""

from __future__ import annotations

import os
import threading

import torch

TOOLS = ("NSYS_PROFILING_SESSION_ID", "CUDA_INJECTION64_PATH", "NV_COMPUTE_PROFILER_PERFWORKS_DIR")
"""Variables that NVIDIA's tools set in a program that they start."""


def wanted() -> bool:
    """Whether anybody could draw ranges."""
    return torch.version.cuda is not None and any(name in os.environ for name in (*TOOLS, "NVTX_INJECTION64_PATH"))


class _Open(threading.local):
    """Ranges of a thread that are open, and whether they were told: a range of the program's own must not be closed."""

    def __init__(self) -> None:
        self.told: list[bool] = []


_open = _Open()


def push(name: str) -> None:
    on = bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]
    _open.told.append(on)
    if on:
        torch.cuda.nvtx.range_push(name)  # type: ignore[no-untyped-call]


def pop() -> None:
    if _open.told and _open.told.pop():
        torch.cuda.nvtx.range_pop()  # type: ignore[no-untyped-call]
