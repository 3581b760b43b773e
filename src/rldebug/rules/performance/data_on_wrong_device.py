"""Batches are copied to the GPU at every update, or a GPU stays unused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, thousands
from rldebug.rule import Rule

_BACK = (".cpu", ".item", ".numpy", ".tolist")
_UPDATE = ("loss", "backward", "optimizer", "target networks")


@dataclass(frozen=True, kw_only=True)
class DataOnWrongDevice(Rule):
    """The data lie on one device and the networks on another.

    ## What it checks
    Networks on a GPU: the time in which what they learn from is copied there, before each gradient, from a tenth of the
    run on. Networks on the CPU beside a GPU that is not used: whether the updates take half of the run, with a network
    of a million parameters or more.

    ## Why it matters
    A copy from ordinary memory waits for the GPU, and the GPU waits for it. The same rows are often copied many times,
    at each epoch again.

    ## Likely causes
    1. The buffer is of numpy arrays or CPU tensors, and each minibatch is moved. Confirm: the line that is named.
    2. `.to(device)` is missing for the networks. Confirm: print `next(net.parameters()).device`.

    ## What to try first
    Keep rollouts on the GPU, or move them once; where memory does not allow it, pin it and copy with
    `non_blocking=True`.

    ## When it is fine
    Buffers that are larger than the GPU's memory.

    ## References
    PyTorch, *Performance Tuning Guide* (avoid unnecessary CPU-GPU synchronisation); *CUDA semantics: pinned memory*.
    """

    code: ClassVar[str] = "PRF917"
    name: ClassVar[str] = "data-on-wrong-device"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF003",)

    copies: float = 0.1  # of the run
    stays: float = 0.5  # of the time of copies: a part of it is waiting for the GPU, which goes on elsewhere
    updates: float = 0.5  # of the run, for networks on the CPU
    parameters: int = 1_000_000  # from which a GPU pays
    rows: int = 64  # of a batch, from which a GPU pays

    def check(self, evidence: Timing) -> Iterator[Finding]:
        away = [each for each in evidence.networks if each.device.startswith(("cuda", "mps", "xpu"))]
        yield from self._copied(evidence) if away else self._unused(evidence)

    def _copied(self, timing: Timing) -> Iterator[Finding]:
        moved = timing.of(
            "copies",
            where=lambda each: (
                each.after == "backward"
                and each.before in ("step", "reset", "update", "backward")
                and not each.called.endswith(_BACK)
            ),
        )
        seconds = total(moved)
        speedup = timing.speedup(seconds, self.stays * seconds)
        if timing.share(seconds) < self.copies or speedup < WORTH:
            return
        yield self.finding(
            f"what is learned from is copied to the GPU for {timing.share(seconds):.0%} of the run",
            where=timing.where(moved),
            seen=f"{lasting(seconds)} in all, {lasting(seconds / max(timing.updates, 1))} for each of "
            f"{thousands(timing.updates)} updates",
            expected=f"about {lasting(self.stays * seconds)} or less, if it lies on the GPU already",
            help="keep the buffer on the GPU, or move the whole rollout once; else pin it and use non_blocking=True",
            confidence=0.75,
            severity=weight(speedup),
            speedup=speedup,
        )

    def _unused(self, timing: Timing) -> Iterator[Finding]:
        large = [
            each for each in timing.networks if each.parameters >= self.parameters and each.training_rows >= self.rows
        ]
        seconds = total(timing.of(*_UPDATE))
        if not timing.host.gpu or not large or timing.share(seconds) < self.updates:
            return
        network = max(large, key=lambda each: each.parameters)
        yield self.finding(
            f"`{network.name}` learns on the CPU, beside a GPU that is not used",
            where=timing.where(timing.of(*_UPDATE)),
            seen=f"{timing.share(seconds):.0%} of the run for updates; {thousands(network.parameters)} parameters, "
            f"{network.training_rows} rows; there is {timing.host.gpu}",
            expected="networks of this size on the GPU",
            help='try .to("cuda") for networks and batches, and compare the pace',
            confidence=0.7,
            severity="note",
        )
