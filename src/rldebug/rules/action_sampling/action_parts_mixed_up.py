"""An action of several choices at once is not learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionPartsMixedUp(Rule):
    """An action of several choices at once is not learned.

    ## What it checks
    An action of two choices: which pair pays depends on the state. Single choices were learned.

    ## Why it matters
    The probability of the whole is the product of its parts: leave one out, and that part is never learned.

    ## Likely causes
    1. Log-probabilities are not summed over the parts, or over the wrong axis. Confirm: the sum must have the shape
       `(N,)`.
    2. Only one part has a head, or a gradient. Confirm: print the gradient norm of each.
    3. Parts are read in another order than they are written. Confirm: send an action of different parts, and print
       what arrives.

    ## What to try first
    Print the log-probability of each part beside that of the whole.

    ## When it is fine
    Never.

    ## References
    Tavakoli and others, *Action branching architectures for deep reinforcement learning*.
    """

    code: ClassVar[str] = "ACT010"
    name: ClassVar[str] = "action-parts-mixed-up"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["multi-discrete-action"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "an action of several choices at once is not learned",
            **shown(rung),
            help="print the log-probability of each part beside that of the whole: it is their sum",
            confidence=0.8,
        )
