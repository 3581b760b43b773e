"""The number of threads is set when torch has already started them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule
from rldebug.syntax.names import library, method, resolved
from rldebug.syntax.places import above

_OF_TORCH = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_UPDATE = ("loss", "backward", "optimizer")


def _set_at(timing: Timing, name: str) -> Where:
    """Where the text sets a variable of the environment."""
    for source in timing.sources:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.Constant) or node.value != name:
                continue
            outer = next(above(source, node), None)
            if isinstance(outer, ast.Subscript) and isinstance(outer.ctx, ast.Store):
                if resolved(source, outer.value) == "os.environ":
                    return source.at(outer)
            elif isinstance(outer, ast.Call) and (
                library(source, outer) == "os.putenv" or method(outer) == "setdefault"
            ):
                return source.at(outer)
    return Where()


@dataclass(frozen=True, kw_only=True)
class ThreadsSetTooLate(Rule):
    """The number of threads is set after torch was imported.

    ## What it checks
    OMP_NUM_THREADS and MKL_NUM_THREADS that the program itself sets after it has imported torch, and that torch does
    not follow: it has another number of threads. A number is promised where fewer threads were measured to be faster.

    ## Why it matters
    The variables are read once, when the library is loaded. The line looks as if it worked, and nothing changes.

    ## Likely causes
    1. The imports were sorted, and the line went below them. Confirm: print `torch.get_num_threads()` after it.

    ## What to try first
    Call `torch.set_num_threads(…)`: that works at any time. Or set the variable before the program is started.

    ## When it is fine
    Where the variable is meant for processes that are started later.

    ## References
    PyTorch, *CPU threading*; OpenMP specification, *OMP_NUM_THREADS*.
    """

    code: ClassVar[str] = "PRF909"
    name: ClassVar[str] = "threads-set-too-late"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF700", "PRF908")

    def check(self, evidence: Timing) -> Iterator[Finding]:
        host = evidence.host
        for name in _OF_TORCH:
            told = host.variables.get(name, "")
            if name not in host.late or not told.isdigit() or int(told) in (0, host.threads):
                continue
            slices = evidence.of(*_UPDATE)
            seconds, measured = total(slices), evidence.yardstick.get("threads")
            detail = {} if measured is None else measured.detail
            faster: float | None = None
            if took := detail.get(str(host.threads)):
                faster = evidence.speedup(seconds, seconds * detail.get(told, took) / took)
            gains = faster is not None and faster >= WORTH
            if not gains and host.workers > 0 and host.threads * (host.workers + 1) <= host.cores:
                return  # meant for them, it may be, and there is room for all
            where = _set_at(evidence, name)
            yield self.finding(
                f"torch uses {host.threads} threads: {name} is set to {told} after torch was imported",
                where=where,
                seen=f"torch.get_num_threads() is {host.threads}"
                + (
                    f"; a training step of the same shapes takes {lasting(detail[str(host.threads)])} with it and "
                    f"{lasting(detail[told])} with {told}, on this machine; updates take {evidence.share(seconds):.0%} "
                    "of the run"
                    if gains
                    else ""
                ),
                expected=f"{told} of them, as the program asks for",
                help=f"call torch.set_num_threads({told}), or set {name} above the first import of torch",
                confidence=0.9,
                severity=weight(faster),
                speedup=faster if gains else None,
            )
            return
