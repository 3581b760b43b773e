"""How long calls take: of each the shortest of several, in turns, so that what else the machine does hits all alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter

Call = Callable[[], object]

SHORT = 5e-5
"""Seconds below which several calls are timed as one: the clock itself takes a tenth of a microsecond."""

ROUNDS = 3
"""At least so many, however long they take."""


def race(
    calls: Mapping[str, Call],
    seconds: float = 0.2,
    device: str = "cpu",
    around: Callable[[str], AbstractContextManager[object]] = lambda name: nullcontext(),
) -> dict[str, float]:
    """Seconds of one call of each. Takes about `seconds` in all. A GPU is waited for; `around` is not on the clock."""
    wait = _wait(device)
    found: dict[str, float] = {}
    together: dict[str, int] = {}
    for name, call in calls.items():
        with around(name):
            call()  # the first one allocates, and finds its kernels
            found[name] = _timed(call, 1, wait)
        short = SHORT if device == "cpu" else 20 * SHORT  # waiting for a GPU takes longer than the clock
        together[name] = max(1, round(short / max(found[name], 1e-7)))
    until = perf_counter() + seconds
    rounds = 1
    while perf_counter() < until or rounds < ROUNDS:
        for name, call in calls.items():
            with around(name):
                found[name] = min(found[name], _timed(call, together[name], wait))
        rounds += 1
    return {name: max(each, 1e-9) for name, each in found.items()}


def _timed(call: Call, times: int, wait: Callable[[], None]) -> float:
    wait()
    began = perf_counter()
    for _ in range(times):
        call()
    wait()
    return (perf_counter() - began) / times


def _wait(device: str) -> Callable[[], None]:
    import torch

    if device.startswith("cuda"):
        return torch.cuda.synchronize
    if device.startswith("mps"):
        return torch.mps.synchronize
    return lambda: None
