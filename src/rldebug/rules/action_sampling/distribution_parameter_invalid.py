"""A distribution is made of numbers that are none of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told, refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DistributionParameterInvalid(Rule):
    """A distribution is made of numbers that are none of its parameters.

    ## What it checks
    A distribution refused its parameters, and none of them is NaN: probabilities that are negative or do not sum to 1,
    a scale that is not positive.

    ## Why it matters
    Actions cannot be drawn from it; where no check is made, they are drawn from another distribution than is meant.

    ## Likely causes
    1. Logits or log-probs are passed as probabilities: `Categorical(x)` takes probabilities. Confirm: print the
       smallest element.
    2. The scale is the plain output of the network, or a log-std that is not exponentiated. Confirm: the same.
    3. Every action of a row is masked. Confirm: print the smallest number of allowed actions.

    ## What to try first
    Write `Categorical(logits=…)`; make a scale with `exp` or `softplus`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.distributions`.
    """

    code: ClassVar[str] = "ACT401"
    name: ClassVar[str] = "distribution-parameter-invalid"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return refused_parameter(evidence) == "parameter"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a distribution was given numbers that are none of its parameters",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="probabilities that are not negative, a scale above 0",
            help="pass logits=, or exponentiate; and check that a mask leaves an action",
            confidence=0.9,
        )
