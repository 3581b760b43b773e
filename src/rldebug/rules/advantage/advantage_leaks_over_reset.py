"""Advantages sum over the end of an episode into the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import leaks, shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageLeaksOverReset(Rule):
    """Advantages sum over the end of an episode into the next one.

    ## What it checks
    Two kinds of episodes in turn: the pay of the second is believed to be worth something in the first, though an end
    lies between them. For algorithms with a λ.

    ## Why it matters
    What an action is credited with then holds the luck of the next episode: advantages are noisier, and biased where
    episodes are linked.

    ## Likely causes
    1. The recursion is not cut: `A_t = δ_t + γ λ A_{t+1}` lacks the mask, while the bootstrap in δ has it. Confirm:
       two episodes in one rollout: the advantages of the first must not change with the second's rewards.
    2. The mask that cuts it is that of the step before or after. Confirm: the same; shift the flags by one.
    3. Only terminated cuts it, and truncated does not. Confirm: the same, with an episode that is cut off.

    ## What to try first
    Compute GAE over two episodes, change the rewards of the second, and compare the advantages of the first.

    ## When it is fine
    Never.

    ## References
    Schulman and others, *High-dimensional continuous control using generalized advantage estimation*.
    """

    code: ClassVar[str] = "ADV007"
    name: ClassVar[str] = "advantage-leaks-over-reset"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["leaking-return"]
        if rung.outcome != "failed" or "lam" not in evidence.declared or not leaks(rung):
            return
        yield self.finding(
            "advantages, or returns, run on over the end of an episode into the next",
            **shown(rung),
            help="compute GAE over two episodes, change the second's rewards, and compare the advantages of the first",
            confidence=0.9 if rung.matched else 0.75,
        )
