"""Critic and sampled returns are mixed by another λ than declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LambdaDiffers(Rule):
    """Critic and sampled returns are mixed by another λ than declared.

    ## What it checks
    Two ways that look the same in the middle: how different their beginnings are believed to be tells how far sampled
    returns are trusted, and this is not what λ, or the number of steps, says.

    ## Why it matters
    λ trades bias for variance: at 0 the critic's errors are believed, at 1 every sample's luck.

    ## Likely causes
    1. λ is not handed on, or another setting is in its place. Confirm: print λ inside the function that uses it.
    2. The target of the critic is that of one step, while advantages use λ; or the reverse. Confirm: target must be
       advantage + value.
    3. n-step sums stop earlier or later than n. Confirm: rewards 0, 0, 1 and n = 3 must give γ² at the first step,
       whatever the critic says.

    ## What to try first
    Print λ, or n, inside the function that computes advantages or returns.

    ## When it is fine
    Where the critic is trained on other targets than the advantages are made of, on purpose.

    ## References
    Schulman and others, *High-dimensional continuous control using generalized advantage estimation*.
    """

    code: ClassVar[str] = "ADV008"
    name: ClassVar[str] = "lambda-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ADV007")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["aliased-fork"]
        if rung.outcome != "failed":
            return
        lam, n_step = evidence.declared.get("lam"), evidence.declared.get("n_step")
        said = (
            f"λ = {lam:g}" if lam is not None else f"sums of {n_step} steps" if n_step is not None else "the settings"
        )
        numbers = shown(rung)
        told = "" if evidence.lam is None else f"values that tell a λ of {evidence.lam:.2f}; "
        yield self.finding(
            "critic and sampled returns are mixed otherwise than the settings say",
            seen=f"{told}{numbers['seen']}",
            expected=f"{said}: {numbers['expected']}",
            help="print λ, or n, inside the function that computes advantages or returns",
            confidence=0.8,
        )
