"""Networks compute with twice the digits that training needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule
from rldebug.syntax.names import library, method
from rldebug.syntax.places import calls

_OF_NETWORKS = ("acting", "loss", "backward", "optimizer", "target networks")


def _switched_at(timing: Timing) -> Where:
    """Where the text asks for it."""
    found = [
        (library(source, call) != "torch.set_default_dtype", source.at(call))
        for source in timing.sources
        for call in calls(source)
        if library(source, call) in ("torch.set_default_dtype", "torch.set_default_tensor_type")
        or (method(call) == "double" and not call.args)
    ]
    return min(found, key=lambda each: each[0])[1] if found else Where()


@dataclass(frozen=True, kw_only=True)
class NetworkInFloat64(Rule):
    """Networks compute in float64, where float32 is enough.

    ## What it checks
    The dtype of the networks' parameters, and what forward and backward pass of a network of the same shapes take in
    float64 and in float32 on this machine.

    ## Why it matters
    Twice the memory to go through, half the numbers to an instruction; on most GPUs a small part of the speed. The
    noise of gradients is larger than what the digits add.

    ## Likely causes
    1. Observations of numpy are float64, and the networks were made to fit. Confirm: `.double()` or
       `torch.set_default_dtype` in the text.

    ## What to try first
    Keep the networks in float32, and convert observations where they are stored.

    ## When it is fine
    Checks of gradients, and second-order methods that need the digits.

    ## References
    PyTorch documentation, *torch.set_default_dtype*; NVIDIA, *CUDA C++ Programming Guide* (arithmetic throughput).
    """

    code: ClassVar[str] = "PRF918"
    name: ClassVar[str] = "network-in-float64"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    def check(self, evidence: Timing) -> Iterator[Finding]:
        networks = [each for each in evidence.networks if each.shapes]
        wide = [each for each in networks if each.dtype.endswith("float64")]
        measured = evidence.yardstick.get("precision")
        if not wide or measured is None or not measured.instead:
            return
        # Times are known by part, not by network: those in float32 take a share of them as their size.
        part = sum(each.parameters for each in wide) / max(sum(each.parameters for each in networks), 1)
        slices = evidence.of(*_OF_NETWORKS)
        seconds = part * total(slices)
        instead = seconds * measured.seconds / measured.instead
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        where = _switched_at(evidence)
        names = ", ".join(f"`{each.name}`" for each in wide[:4]) + (" …" if len(wide) > 4 else "")
        yield self.finding(
            f"{names} {'computes' if len(wide) == 1 else 'compute'} in float64",
            where=where if where.file else evidence.where(slices),
            seen=f"{lasting(seconds)} in networks, {evidence.share(seconds):.0%} of the run; forward and backward pass "
            f"take {lasting(measured.instead)} in float64 and {lasting(measured.seconds)} in float32, on this machine",
            expected=f"{lasting(instead)} in float32",
            help="drop .double() or set_default_dtype(torch.float64); store observations as float32",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )
