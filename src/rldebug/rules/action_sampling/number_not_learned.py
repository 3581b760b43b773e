"""Choices are learned, and numbers are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NumberNotLearned(Rule):
    """Choices are learned, and numbers are not.

    ## What it checks
    One step, an action from −1 to 1 of which 0.4 pays most: what the policy plays came to rest elsewhere.

    ## Why it matters
    What numbers add to choices is their density: its shape, its deviation, and which action it is asked for.

    ## Likely causes
    1. The log-probability is not summed over the action's numbers, and broadcasts against the advantages. Confirm:
       its shape must be `(N,)`.
    2. It is of another action than the one played: clipped, squashed or rescaled in between. Confirm: recompute it
       for stored actions with the weights that acted.
    3. A squashed action's density lacks the correction for the tanh, or has it twice. Confirm: exp(logp), integrated
       over the range, must be 1.
    4. The deviation grows or collapses: its entropy bonus, or its bounds. Confirm: print it over the run.

    ## What to try first
    Integrate exp(log-probability) over the range: it must be 1.

    ## When it is fine
    Never.

    ## References
    Haarnoja and others, *Soft actor-critic algorithms and applications*, appendix C (squashed densities).
    """

    code: ClassVar[str] = "ACT008"
    name: ClassVar[str] = "number-not-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["interior-optimum"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "the best number is not learned",
            **shown(rung),
            help="recompute log-probabilities of stored actions with the weights that acted: (N,), the same numbers",
            confidence=0.75,
        )
