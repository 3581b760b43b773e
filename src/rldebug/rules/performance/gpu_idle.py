"""The GPU waits for most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GpuIdle(Rule):
    """The GPU waits for most of the time.

    ## What it checks
    The utilisation that the driver reports, over the run after its start: below a fifth in most readings.

    ## Why it matters
    The driver counts the GPU as busy while any kernel runs, however small: little of it means that the program waits
    for something else nearly all of the time, mostly for environments or for the next small batch.

    ## Likely causes
    1. Environments are stepped one after the other on the CPU. Confirm: time `env.step()` against the forward pass; use
       more environments, or asynchronous ones.
    2. The network is so small that starting kernels costs more than computing. Confirm: run the same on the CPU; it may
       be faster.
    3. The host waits for the device at every step: `.item()`, `.cpu()`, a print. Confirm: profile with `torch.profiler`
       and look for synchronising copies.

    ## What to try first
    Run once with everything on the CPU, and compare the pace.

    ## When it is fine
    Small networks, and runs that are bound by their simulator and cannot be otherwise.

    ## References
    Gleeson et al., *RL-Scope: Cross-Stack Profiling for Deep Reinforcement Learning Workloads*.
    """

    code: ClassVar[str] = "PRF003"
    name: ClassVar[str] = "gpu-idle"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("gpu/utilisation",)

    busy: float = 0.2  # share of the time a kernel runs
    readings: int = 30  # about one per second
    warm_up: float = 0.2  # share of the run that is left out

    def check(self, evidence: Run) -> Iterator[Finding]:
        use = evidence["gpu/utilisation"].finite
        if len(use) < self.readings:
            raise NotEnough(f"{len(use)} readings of the GPU, needs {self.readings}")
        use = use.between(self.warm_up, 1.0)
        if use.quantile(0.75) >= self.busy:
            return
        yield self.finding(
            "the GPU waits for most of the time",
            where=use.where(-1),
            seen=f"utilisation {use.median():.0%} in the median and {use.quantile(0.75):.0%} in three readings of "
            f"four, over {len(use)} readings",
            expected=f"above {self.busy:.0%}, or a run on the CPU",
            help="step more environments at once, and look for .item() and .cpu() in the loop",
            confidence=0.7,
        )
