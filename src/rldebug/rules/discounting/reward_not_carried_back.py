"""Rewards are learned, and not carried back in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RewardNotCarriedBack(Rule):
    """Rewards are learned, and not carried back in time.

    ## What it checks
    The reward of a step is learned, and the value of the steps that lead to it, two steps back or fifteen, is not
    what γ says.

    ## Why it matters
    Credit for what pays later is all that reinforcement learning adds to regression.

    ## Likely causes
    1. The bootstrap is of another row: of another step, of another environment. Confirm: print reward, next
       observation and target of ten rows.
    2. Discounts are multiplied in the wrong order, or their powers come from a table that is too short. Confirm:
       rewards 0, 0, 1 must give γ², γ, 1.
    3. The target network lags too far behind, or is another network. Confirm: set the interval to 1, and look again.

    ## What to try first
    Feed a chain of zeros with a 1 at its end to your return, and print what it gives.

    ## When it is fine
    Never, unless γ is not what was declared: pass `--gamma`.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 6–7 (temporal differences, n-step bootstrapping).
    """

    code: ClassVar[str] = "DIS014"
    name: ClassVar[str] = "reward-not-carried-back"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("TGT005")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for name in ("delayed-reward", "discount-chain"):
            rung = evidence[name]
            if rung.outcome == "failed":
                yield self.finding(
                    "rewards are learned, and not carried back in time",
                    **shown(rung),
                    help="feed a chain of zeros with a 1 at its end to your return, and print what it gives",
                    confidence=0.7,
                )
                return
