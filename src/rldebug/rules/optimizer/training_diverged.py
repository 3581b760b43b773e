"""Training diverged: the weights are NaN after many updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import nan_told, rates_of, refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TrainingDiverged(Rule):
    """Training diverged: the weights are NaN after many updates.

    ## What it checks
    A distribution refused NaN; the weights themselves are NaN, and that after many updates.

    ## Why it matters
    Once a weight is NaN every output is.

    ## Likely causes
    1. The learning rate is too high, or nothing limits the step. Confirm: divide it by ten, or clip the norm of the
       gradient.
    2. Targets or rewards grow without bound. Confirm: print their greatest absolute value.
    3. An operation that is undefined for rare values: a logarithm or square root of 0, a division by a standard
       deviation of 0. Confirm: run under `torch.autograd.set_detect_anomaly(True)`.

    ## What to try first
    Print the norm of the gradient of the last updates before the end.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.autograd.set_detect_anomaly`; `torch.distributions`, validation of arguments.
    """

    code: ClassVar[str] = "OPT401"
    name: ClassVar[str] = "training-diverged"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    follows: ClassVar[tuple[str, ...]] = (
        "ADV006",
        "ADV401",
        "DIS009",
        "ENV001",
        "ENV002",
        "ENV015",
        "GRA001",
        "NET001",
        "NET002",
        "POL011",
    )

    def concerns(self, evidence: Crash) -> bool:
        return refused_parameter(evidence) == "diverged"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        rates = ", ".join(f"{rate:g}" for rate in rates_of(evidence)) or "unknown"
        yield self.finding(
            "the weights have become NaN",
            where=evidence.where,
            seen=f"{evidence.said}; learning rate {rates}{nan_told(evidence)}",
            expected="finite weights",
            help="divide the learning rate by ten and clip the norm of the gradient; then look for the first NaN",
            confidence=0.6,
        )
