"""The policy stays exactly what it was at the start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, still, up_to, values_alone
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PolicyNeverMoves(Rule):
    """The policy stays exactly what it was at the start.

    ## What it checks
    Values are learned, and on the rung where actions first matter the policy never changed by a millionth.

    ## Why it matters
    No gradient arrives at it, or none is applied.

    ## Likely causes
    1. The ratio or the log-probability is computed without a graph: detached, from numpy, under `no_grad()`. Confirm:
       `policy_loss.requires_grad` must be True, and the policy's last layer must have a gradient after `backward()`.
    2. The policy's parameters are in no optimizer. Confirm: compare the optimizer's parameter groups with
       `policy.parameters()`.
    3. All advantages are 0: normalised twice, or of rows that are masked out. Confirm: print their standard
       deviation.

    ## What to try first
    After one `backward()`, print the gradient norm of the policy's last layer.

    ## When it is fine
    Never.

    ## References
    Schulman and others, *Proximal policy optimization algorithms*; Sutton and Barto, *Reinforcement Learning*,
    chapter 13.
    """

    code: ClassVar[str] = "POL014"
    name: ClassVar[str] = "policy-never-moves"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("DIS014")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["action-reward"]
        if rung.outcome != "failed" or not still(rung) or values_alone(evidence):
            return
        yield self.finding(
            "the policy never changes",
            **shown(rung),
            help="after one backward(), print the gradient norm of the policy's last layer",
            confidence=0.85,
        )
