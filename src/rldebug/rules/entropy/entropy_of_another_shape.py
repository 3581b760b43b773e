"""An entropy meets something of another shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import is_entropy, operands_told, shapes_meet_badly
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EntropyOfAnotherShape(Rule):
    """An entropy meets something of another shape.

    ## What it checks
    Shapes did not fit where an entropy, −Σ π log π, is put together with something else.

    ## Why it matters
    There is one entropy for each state: that of an action of several parts is their sum.

    ## Likely causes
    1. The policy has several actions at once, and their entropies are not summed. Confirm: print the shape; its last
       axis is the number of parts.
    2. The entropy is of the whole rollout, and the mask or weight of a minibatch. Confirm: the same.

    ## What to try first
    Sum the entropy over the parts of an action, `dist.entropy().sum(-1)`, as the log-prob is.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.distributions.Independent`.
    """

    code: ClassVar[str] = "ENT430"
    name: ClassVar[str] = "entropy-of-another-shape"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return shapes_meet_badly(evidence) and is_entropy(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an entropy meets something of another shape",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="one entropy for each state",
            help="sum it over the parts of an action as the log-prob is, .entropy().sum(-1), and take the same rows "
            "as of the other",
            confidence=0.8,
        )
