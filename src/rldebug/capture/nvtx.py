"""NVTX: the parts of a training loop as named ranges, which Nsight Systems draws above the kernels that they launch.

Without CUDA nothing is called.
"""

from __future__ import annotations

import threading

import torch


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
