"""The GPU gets many small kernels, and waits for the next most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_UPDATE = ("loss", "backward", "optimizer")


@dataclass(frozen=True, kw_only=True)
class UpdateBoundByLaunches(Rule):
    """An update starts many small kernels, and the GPU waits for each.

    ## What it checks
    One update on the GPU: how many kernels it starts, and for which share of its time any of them runs. From 60
    kernels on that together keep the GPU busy for less than three tenths.

    ## Why it matters
    To start a kernel takes the host some microseconds, however little there is to compute. Small networks on small
    batches are bound by that: a faster GPU changes nothing.

    ## Likely causes
    1. Small batches. Confirm: twice the batch takes the same time.
    2. An optimizer that goes from parameter to parameter. Confirm: `fused=True` changes the time.
    3. Losses written with many small operations. Confirm: the profile of the lines.

    ## What to try first
    Larger batches, `fused=True` for the optimizer, then `torch.compile(mode="reduce-overhead")` or CUDA graphs for the
    whole update.

    ## When it is fine
    Where the update is a small part of the run.

    ## References
    PyTorch blog, *Accelerating PyTorch with CUDA Graphs*; *LeanRL* (meta-pytorch).
    """

    code: ClassVar[str] = "PRF925"
    name: ClassVar[str] = "update-bound-by-launches"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF003",)

    launches: float = 60.0  # in an update
    busy: float = 0.3  # share of the update in which a kernel runs
    left: float = 0.5  # of the update at least, where it was not measured

    def check(self, evidence: Timing) -> Iterator[Finding]:
        names = ("launches", "kernel_seconds", "seconds")
        launches, kernels, update = (evidence.kernels.get(each, 0.0) for each in names)
        if launches < self.launches or update <= 0 or kernels <= 0 or kernels >= self.busy * update:
            return
        slices = evidence.of(*_UPDATE)
        seconds = total(slices)
        left = max(self.left, 1.2 * kernels / update)
        speedup = evidence.speedup(seconds, left * seconds)
        if speedup < WORTH:
            return
        yield self.finding(
            f"an update starts {launches:.0f} kernels and the GPU works for {kernels / update:.0%} of it",
            where=evidence.where(slices),
            seen=f"{lasting(update)} for an update, {lasting(kernels)} of it in kernels, "
            f"{lasting(kernels / launches)} each; updates take {evidence.share(seconds):.0%} of the run",
            expected=f"{lasting(left * update)} for an update that is started as one",
            help='larger batches; fused=True for the optimizer; torch.compile(mode="reduce-overhead") or CUDA graphs',
            confidence=0.75,
            severity=weight(speedup),
            speedup=speedup,
        )
