"""Values are learned with the opposite sign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ValueLearnedWithOppositeSign(Rule):
    """Values are learned with the opposite sign.

    ## What it checks
    What was learned on one of the first rungs is the right answer times −1.

    ## Why it matters
    Everything built on the critic points the wrong way: the better a state, the more it is avoided.

    ## Likely causes
    1. Costs and rewards are taken for one another: the reward is negated on its way. Confirm: print what `env.step`
       returned beside what is stored.
    2. The target is `value − return` instead of `return`. Confirm: print target and reward of a one-step episode.

    ## What to try first
    Print what `env.step` returned beside what the buffer holds.

    ## When it is fine
    Where `value(obs)` means a cost; return minus that.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "VAL014"
    name: ClassVar[str] = "value-learned-with-opposite-sign"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = ("OPT010",)

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for name in ("constant-reward", "observed-reward", "delayed-reward"):
            rung = evidence[name]
            if rung.outcome == "failed" and rung.matched[:1] == ("sign-flipped",):
                yield self.finding(
                    "values have the opposite sign",
                    **shown(rung),
                    help="print what env.step returned beside what the buffer holds",
                    confidence=0.9,
                )
                return
