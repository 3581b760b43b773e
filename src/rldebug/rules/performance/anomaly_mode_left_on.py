"""Anomaly detection or a profiler of the program's own is on in training."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule
from rldebug.syntax.names import library
from rldebug.syntax.places import calls

_SWITCHES = (
    *("torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly"),
    *("torch.autograd.anomaly_mode.set_detect_anomaly", "torch.autograd.anomaly_mode.detect_anomaly"),
)
_PROFILERS = (
    *("torch.profiler.profile", "torch.autograd.profiler.profile", "torch.autograd.profiler.emit_nvtx"),
    *("cProfile.Profile", "cProfile.run", "cProfile.runctx", "profile.Profile", "line_profiler.LineProfiler"),
    *("tracemalloc.start", "sys.settrace", "sys.setprofile"),
)


def _switched_at(timing: Timing, names: tuple[str, ...]) -> Where:
    for source in timing.sources:
        for call in calls(source):
            off = call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value is False
            if library(source, call) in names and not off:
                return source.at(call)
    return Where()


@dataclass(frozen=True, kw_only=True)
class AnomalyModeLeftOn(Rule):
    """Anomaly detection or a profiler of the program's own is on.

    ## What it checks
    Whether `torch.autograd.set_detect_anomaly` was on while the program trained, and what that costs for a network of
    this size on this machine; whether the program had switched on a profiler itself.

    ## Why it matters
    Anomaly mode keeps the lines of every operation of the forward pass, and looks for NaN after every operation of the
    backward pass. A profiler writes down every call.

    ## Likely causes
    1. It was switched on to find a NaN, and stayed. Confirm: search for `detect_anomaly`.
    2. A profiler without a schedule goes on to the end. Confirm: search for `profile(`.

    ## What to try first
    Switch it off; switch it on again for the few updates before a NaN.

    ## When it is fine
    While you look for an error.

    ## References
    PyTorch documentation, *Anomaly detection*; *Performance Tuning Guide* (disable debugging APIs).
    """

    code: ClassVar[str] = "PRF911"
    name: ClassVar[str] = "anomaly-mode-left-on"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    stays: float = 0.8  # of the time of forward and backward pass, where it was not measured
    least: float = 0.3  # of it at least: it writes down the callers of each operation, and profiled there are more

    def check(self, evidence: Timing) -> Iterator[Finding]:
        if evidence.host.anomaly:
            yield from self._anomaly(evidence)
        if evidence.host.profiler:
            yield self.finding(
                f"{evidence.host.profiler} was on while the program trained",
                where=_switched_at(evidence, _PROFILERS),
                seen="it was switched on by the program itself; all times here are with it",
                expected="a profiler for some updates, not for a run",
                help="switch it off and look again: what it costs cannot be told from within",
                confidence=0.85,
                severity="note",
            )

    def _anomaly(self, timing: Timing) -> Iterator[Finding]:
        slices = timing.of("loss", "backward")
        seconds = total(slices)
        measured = timing.yardstick.get("anomaly")
        stays, beside = self.stays, ""
        if measured is not None and measured.instead:
            stays = max(measured.seconds / measured.instead, self.least)
            beside = (
                f"; one of each takes {lasting(measured.instead)} with it and {lasting(measured.seconds)} without, on "
                "this machine"
            )
        speedup = timing.speedup(seconds, stays * seconds)
        if speedup < WORTH:
            return
        where = _switched_at(timing, _SWITCHES)
        yield self.finding(
            "anomaly detection was on while the program trained",
            where=where if where.file else timing.where(slices),
            seen=f"{lasting(seconds)} in forward and backward pass, {timing.share(seconds):.0%} of the run{beside}",
            expected=f"{lasting(stays * seconds)} without it",
            help="remove torch.autograd.set_detect_anomaly(True); switch it on only to look for a NaN",
            confidence=0.9,
            severity=weight(speedup),
            speedup=speedup,
        )
