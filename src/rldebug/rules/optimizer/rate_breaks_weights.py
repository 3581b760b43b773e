"""The learning rate is so great that the weights became NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at
from rldebug.evidence.crashes.signs import nan_told, rates_of, refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RateBreaksWeights(Rule):
    """The learning rate is so great that the weights became NaN.

    ## What it checks
    A distribution refused NaN, the weights are NaN, the learning rate of an optimizer in reach is 0.05 or more, and no
    operation that is undefined for some numbers was seen to give NaN first. From 1 on the last is not asked.

    ## Why it matters
    One step moves the weights out of all proportion; the next output is infinite, and the next gradient NaN.

    ## Likely causes
    1. A slip in the exponent: `3e-1` for `3e-4`, or a rate without its exponent. Confirm: print the rate.
    2. The rate of another optimizer, or another setting, was given. Confirm: the same.

    ## What to try first
    Adam with 3e-4.

    ## When it is fine
    Never: the program has ended.

    ## References
    Kingma and Ba 2015, *Adam: A Method for Stochastic Optimization*.
    """

    code: ClassVar[str] = "OPT470"
    name: ClassVar[str] = "rate-breaks-weights"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    explains: ClassVar[tuple[str, ...]] = ("GRA001", "NET001", "NET002", "POL011")

    def concerns(self, evidence: Crash) -> bool:
        return refused_parameter(evidence) == "rate"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        rate = rates_of(evidence)[-1]
        kinds = [fact["type"] for _, _, fact in evidence.held("optimizer") if rate in fact["lr"]]
        made = [each for each in evidence.graph.get("optimizers", ()) if rate in each["lr"]]
        after = f" after {evidence.updates} updates" if evidence.updates is not None else ""
        yield self.finding(
            f"with a learning rate of {rate:g} the weights became NaN",
            where=at(evidence, made[0] if len(made) == 1 else None),
            seen=f"{evidence.said}; learning rate {rate:g} of {kinds[0]}; weights are NaN{after}{nan_told(evidence)}",
            expected="1e-4 to 1e-3",
            help="lower the learning rate, to 3e-4 at first",
            confidence=0.9 if rate >= 1 else 0.65,
        )
