"""Values are discounted by another γ than the settings say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.ladder import Ladder, Rung
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DiscountDiffers(Rule):
    """Values are discounted by another γ than the settings say.

    ## What it checks
    Along a chain with a reward at its end, or on two steps, values tell the γ in use: it is not the one that the
    settings say.

    ## Why it matters
    With γ = 0.99 or 0.9999 an agent looks 100 or 10 000 steps ahead: another problem is solved than the one that was
    meant.

    ## Likely causes
    1. γ is not applied at all, or applied twice: in the return and in the flags, or per step and per n steps.
       Confirm: rewards 0, 0, 1 must give γ², γ, 1.
    2. An n-step target bootstraps with γ, not γⁿ. Confirm: print the factor before the bootstrap; with n steps it is
       γⁿ.
    3. γ and λ are passed in each other's place, or a default is used instead of the setting. Confirm: print both
       inside the function that uses them.

    ## What to try first
    Print γ inside the function that computes returns, and the factor that it multiplies the bootstrap with.

    ## When it is fine
    Where γ depends on time (semi-Markov decisions), and one step here counts as several.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 3.3 and 7.1.
    """

    code: ClassVar[str] = "DIS012"
    name: ClassVar[str] = "discount-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("VAL015")

    apart: float = 0.015  # of the γ that values tell from the one declared; noise is a third of it

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        declared = evidence.declared.get("gamma")
        chain, two = evidence["discount-chain"], evidence["delayed-reward"]
        if declared is None:
            return
        told = evidence.gamma
        if (
            chain.outcome == "failed"
            and told is not None
            and abs(told - declared) > self.apart
            and self._follows(chain, told)
        ):
            yield self._differs(chain, f"values that tell a γ of {told:.3f}", declared, 0.9)
            return
        if two.outcome == "failed" and {"undiscounted", "discounted-twice"} & set(two.matched[:1]):
            value = two.mean("value")
            assert value is not None
            yield self._differs(two, f"values that tell a γ of {value[0] / value[1]:.3f}", declared, 0.9)

    def _follows(self, chain: Rung, told: float) -> bool:
        """Values fall by the same factor at every step back: another γ, and not something else that is wrong."""
        value = chain.mean("value")
        if value is None:
            return False
        expected = told ** np.arange(len(value))[::-1]
        return bool(np.abs(value - expected).max() <= 0.15)

    def _differs(self, rung: Rung, told: str, declared: float, confidence: float) -> Finding:
        numbers = shown(rung)
        return self.finding(
            "values are discounted by another γ than the settings say",
            seen=f"{told}; {numbers['seen']}",
            expected=f"γ = {declared:g}, as declared: {numbers['expected']}",
            help="print γ inside the function that computes returns, and the factor before the bootstrap",
            confidence=confidence,
        )
