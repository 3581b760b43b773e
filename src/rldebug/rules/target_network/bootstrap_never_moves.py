"""What values are bootstrapped from never changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, through_critic, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BootstrapNeverMoves(Rule):
    """What values are bootstrapped from never changes.

    ## What it checks
    Rewards of the same step are learned, and what must be carried back through the network's own estimate is not: it
    stays what the network was born with, another number with every seed. Only for algorithms that bootstrap from a
    second network, or might.

    ## Why it matters
    The targets of all but the last steps are noise from the initial weights: values level off at a few steps'
    rewards.

    ## Likely causes
    1. The target network is never updated: it loads its own weights, the interval is never met, the soft update
       writes elsewhere. Confirm: print the norm of one of its weights over a thousand updates.
    2. τ is 0, or the update is skipped under another condition. Confirm: count the calls of the update.
    3. The bootstrap is computed by a network that is not trained at all. Confirm: print which module computes the
       next value.

    ## What to try first
    Print the norm of one weight of the target network over a thousand updates.

    ## When it is fine
    Never.

    ## References
    Mnih and others, *Human-level control through deep reinforcement learning* (target network).
    """

    code: ClassVar[str] = "TGT005"
    name: ClassVar[str] = "bootstrap-never-moves"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("VAL015")

    apart: float = 0.1  # between seeds, as a share of the right value: initial weights differ by more

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        if not through_critic(evidence):
            return
        for name in ("delayed-reward", "truncated-episode", "discount-chain"):
            rung = evidence[name]
            tables = [each.value for each in rung.attempts if each.outcome == "failed" and each.value is not None]
            if rung.outcome != "failed" or len(tables) < 2 or rung.right is None:
                continue
            row = int(np.abs(np.mean(tables, axis=0) - rung.right).argmax())
            born = [float(each[row]) for each in tables]
            if max(born) - min(born) <= self.apart * float(np.abs(rung.right).max()):
                continue
            numbers = shown(rung)
            yield self.finding(
                "what values are bootstrapped from stays as it was at the start",
                seen=f"{numbers['seen']}; by seed {', '.join(f'{each:.2f}' for each in born)}",
                expected=f"{numbers['expected']}, with every seed",
                help="print the norm of one weight of the target network over a thousand updates",
                confidence=0.8,
            )
            return
