"""A mask puts infinities into the loss, and they become NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import nan_told, operands_told, refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MaskedWithInfinity(Rule):
    """A mask puts infinities into the loss, and they become NaN.

    ## What it checks
    A distribution refused NaN, the weights are NaN, and the loss of the last update is NaN and was computed through a
    mask.

    ## Why it matters
    A forbidden action has probability 0 and log-prob −∞. Their product, in the entropy, is NaN, and so is its gradient.

    ## Likely causes
    1. Logits are masked with `-inf`, and the entropy is computed by hand. Confirm: print the entropy of a masked row.
    2. A row with no allowed action. Confirm: print the smallest number of allowed actions.

    ## What to try first
    Mask with a large negative number, −1e9, in place of −∞.

    ## When it is fine
    Never: the program has ended.

    ## References
    Huang and Ontañón 2022, *A Closer Look at Invalid Action Masking*.
    """

    code: ClassVar[str] = "ENT401"
    name: ClassVar[str] = "masked-with-infinity"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    follows: ClassVar[tuple[str, ...]] = ("ADV006",)

    def concerns(self, evidence: Crash) -> bool:
        return refused_parameter(evidence) == "mask"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a masked loss has become NaN",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}{nan_told(evidence)}",
            expected="finite log-probs",
            help="mask logits with -1e9 in place of -inf, or leave the masked actions out of the entropy",
            confidence=0.6,
        )
