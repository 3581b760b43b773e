"""A training step with as many threads as the run had, with one, and with one for each core."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from rldebug.evidence.timing import Measured, Timing
from rldebug.yardstick.clock import race
from rldebug.yardstick.rebuilt import Rebuilt, described
from rldebug.yardstick.shape import Shape, learner, share

NAME = "threads"


def asked(timing: Timing) -> Shape | None:
    concerned = share(timing, "acting", "loss", "backward", "optimizer")
    network = learner(timing)
    if not concerned or network is None or timing.host.threads < 2 or network.device != "cpu":
        return None
    return Shape(
        concerned,
        rows=network.training_rows,
        networks=(network,),
        threads=timing.host.threads,
        cores=max(1, int(timing.host.cores)),
    )


def measure(shape: Shape) -> Measured:
    """`instead` is with the threads that the run had, `seconds` with the best other number. Detail: by number."""
    present = shape.threads
    rebuilt = Rebuilt(shape.network, shape.rows)
    others = {1, shape.cores} - {present}
    found = race({str(threads): rebuilt.step for threads in sorted({present, *others})}, around=_with_threads)
    detail = {threads: seconds * rebuilt.times for threads, seconds in found.items()}
    fewest = min(others, key=lambda threads: detail[str(threads)])
    what = f"training step of {described(shape.network)}, batch of {shape.rows}, {fewest} of {present} threads"
    return Measured(NAME, what, detail[str(fewest)], instead=detail[str(present)], detail=detail)


@contextlib.contextmanager
def _with_threads(threads: str) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(int(threads))
    try:
        yield
    finally:
        torch.set_num_threads(before)
