"""Lines in the update make the host wait for the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class HostWaitsForGpu(Rule):
    """Lines in the update make the host wait for the GPU.

    ## What it checks
    The lines at which the host waited for the GPU in the updates that were looked at: more than three times an update.
    The gain is what is left of the waiting when host and GPU work side by side.

    ## Why it matters
    Kernels are queued, and the host goes ahead. A line that asks for a number stops it until the queue is empty; then
    the GPU stands still until the next kernels come.

    ## Likely causes
    1. `.item()`, `.cpu()` or a print of losses in each minibatch. Confirm: the lines that are named.
    2. An `if` on a tensor, a mask used as an index, `nonzero`. Confirm: the same.

    ## What to try first
    Keep losses as detached tensors, and ask for their mean once an iteration.

    ## When it is fine
    Once an update, to stop early at a divergence that is too large.

    ## References
    PyTorch, *Performance Tuning Guide* (avoid unnecessary CPU-GPU synchronisation); `torch.cuda.set_sync_debug_mode`.
    """

    code: ClassVar[str] = "PRF924"
    name: ClassVar[str] = "host-waits-for-gpu"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF003",)

    waits: float = 3.0  # in an update, that are fine
    overlap: float = 0.5  # of the waiting that goes, where the time of the kernels is not known
    lines: int = 4  # that are listed

    def check(self, evidence: Timing) -> Iterator[Finding]:
        syncs = sorted(evidence.syncs, key=lambda each: -each.per_update)
        each_update = sum(each.per_update for each in syncs)
        if not evidence.host.gpu or each_update <= self.waits:
            return
        places = {(each.spot.file, each.spot.line) for each in syncs}
        waiting = evidence.of(
            where=lambda each: (
                any((spot.file, spot.line) in places for spot in each.stack)
                and each.before in ("backward", "update", "step")
                and not (each.before == "step" and each.after == "step")
            )
        )
        seconds = total(waiting)
        speedup = evidence.speedup(seconds, self._left(evidence, seconds))
        if speedup < WORTH:
            return
        told = [
            f"{each.what or 'a wait'} at {each.spot.file}:{each.spot.line} ({each.per_update:.3g})" for each in syncs
        ]
        more = f", and {len(told) - self.lines} more lines" if len(told) > self.lines else ""
        yield self.finding(
            f"the host waits for the GPU {each_update:.3g} times in an update",
            where=Where(file=syncs[0].spot.file, line=syncs[0].spot.line),
            seen=f"{', '.join(told[: self.lines])}{more}; {lasting(seconds)} at these lines, "
            f"{evidence.share(seconds):.0%} of the run",
            expected="once an update, or once an iteration",
            help="keep losses as .detach() and ask for numbers once an iteration; use torch.where in place of masks",
            confidence=0.8,
            severity=weight(speedup),
            speedup=speedup,
        )

    def _left(self, timing: Timing, seconds: float) -> float:
        """Of the waiting: the host's own work hides the kernels' as far as it lasts."""
        kernels, update = timing.kernels.get("kernel_seconds"), timing.kernels.get("seconds")
        if kernels is None or update is None or not timing.updates:
            return (1 - self.overlap) * seconds
        host = max(update * timing.updates - seconds, 0.0)
        return min(seconds, max(kernels * timing.updates - host, 0.0))
