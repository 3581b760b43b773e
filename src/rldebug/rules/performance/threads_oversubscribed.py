"""Torch uses more threads than help, or than there are cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.cores import used
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule
from rldebug.syntax.names import library
from rldebug.syntax.places import calls

_UPDATE = ("loss", "backward", "optimizer")


def _set_at(timing: Timing) -> Where:
    """Where the text asks for so many."""
    found = (
        source.at(call)
        for source in timing.sources
        for call in calls(source)
        if library(source, call) == "torch.set_num_threads"
    )
    return next(found, Where())


@dataclass(frozen=True, kw_only=True)
class ThreadsOversubscribed(Rule):
    """Torch uses more threads than help.

    ## What it checks
    A training step of a network of the same shapes, on this machine: with the threads that the run had, and with fewer.
    Where that was not measured: whether there are twice as many threads as cores, in the program or in all its workers
    together; then no number is promised.

    ## Why it matters
    Threads of small networks spend their time on waiting for one another. More threads than cores take turns, and each
    operation ends with the last of them.

    ## Likely causes
    1. Torch starts a thread for each core, and the networks are small. Confirm: run with OMP_NUM_THREADS=1.
    2. Each of several workers does the same. Confirm: print `torch.get_num_threads()` in a worker.
    3. A container grants fewer cores than it shows. Confirm: /sys/fs/cgroup/cpu.max.

    ## What to try first
    `torch.set_num_threads(1)` at the top of the program and of each worker, or OMP_NUM_THREADS=1 before it is started.

    ## When it is fine
    Where the work is done on a GPU.

    ## References
    pytorch/rl issue 1325; PyTorch, *CPU threading*.
    """

    code: ClassVar[str] = "PRF908"
    name: ClassVar[str] = "threads-oversubscribed"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF700", "PRF701")

    crowd: float = 2.0  # threads to a core, where it was not measured
    share: float = 0.1  # of the run in updates, then
    waits: float = 0.25  # of the run in which workers are waited for, then
    busy: float = 0.85  # of the cores, then

    def check(self, evidence: Timing) -> Iterator[Finding]:
        host = evidence.host
        if host.threads > 1 and (measured := evidence.yardstick.get("threads")) is not None:
            fewer = {int(name): took for name, took in measured.detail.items() if name.isdigit()}
            present = fewer.get(host.threads, measured.instead)
            fewer = {number: took for number, took in fewer.items() if number < host.threads}
            if present and fewer:
                yield from self._measured(evidence, present, fewer)
        elif host.threads >= max(self.crowd * host.cores, 2) and self._on_cpu(evidence):
            yield from self._crowded(
                evidence, f"{host.threads} threads of torch", total(evidence.of(*_UPDATE)), self.share
            )
        elif host.worker_threads > 1 and host.workers * host.worker_threads >= self.crowd * host.cores:
            busy = used(evidence)
            if busy is not None and busy >= self.busy * host.cores:
                what = f"{host.workers} workers of {host.worker_threads} threads each"
                yield from self._crowded(evidence, what, total(evidence.of("waiting")), self.waits)

    def _on_cpu(self, timing: Timing) -> bool:
        return bool(timing.networks) and all(each.device == "cpu" for each in timing.networks)

    def _measured(self, timing: Timing, present: float, fewer: dict[int, float]) -> Iterator[Finding]:
        # Acting is left out: on few rows torch uses one thread anyway.
        slices = timing.of(*_UPDATE)
        seconds = total(slices)
        number = min(fewer, key=lambda each: fewer[each])
        instead = seconds * fewer[number] / present
        speedup = timing.speedup(seconds, instead)
        if speedup < WORTH:
            return
        asked = _set_at(timing)
        wanted = "1 thread" if number == 1 else f"{number} threads"
        yield self.finding(
            f"torch uses {timing.host.threads} threads, and {wanted} would be faster",
            where=asked if asked.file else timing.where(slices),
            seen=f"{lasting(seconds)} in updates, {timing.share(seconds):.0%} of the run; a training step of the same "
            f"shapes takes {lasting(present)} with {timing.host.threads} threads and {lasting(fewer[number])} with "
            f"{number}, on this machine; {timing.host.cores:.3g} cores may be used",
            expected=f"{lasting(instead)} in updates",
            help=f"torch.set_num_threads({number}) at the top, or OMP_NUM_THREADS={number} before the start",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )

    def _crowded(self, timing: Timing, what: str, seconds: float, least: float) -> Iterator[Finding]:
        if timing.share(seconds) < least:
            return
        yield self.finding(
            f"{what} take turns on {timing.host.cores:.3g} cores",
            where=timing.where(timing.of(*_UPDATE)),
            seen=f"{lasting(seconds)}, {timing.share(seconds):.0%} of the run, goes into what they do; how much of it "
            "into turns was not measured",
            expected=f"{max(1, int(timing.host.cores))} threads in all, or fewer",
            help="export OMP_NUM_THREADS=1 before the program is started, and compare the pace",
            confidence=0.7,
            severity="note",
        )
