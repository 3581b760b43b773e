"""Actions are moved or stretched the wrong way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionRangeMisplaced(Rule):
    """Actions are moved or stretched the wrong way.

    ## What it checks
    One step, an action from 0 to 4 of which 3 pays most: with a range of −1 to 1 the best number was learned, and now
    it is not.

    ## Why it matters
    Between the network's −1 … 1 and the environment's range lies a map that has to be the same wherever actions are
    used.

    ## Likely causes
    1. Actions are stretched and not moved, or the reverse. Confirm: the network's −1, 0 and 1 must become 0, 2 and 4.
    2. Actions are stored in one unit and used in another. Confirm: print the action that is played, stored and given
       to the critic.
    3. The density is corrected for the tanh, and not for the stretch, or on the wrong side. Confirm: exp(logp),
       integrated over the range, must be 1.

    ## What to try first
    Print the action that is played, stored and given to the critic, for one step.

    ## When it is fine
    Never.

    ## References
    Gymnasium, `RescaleAction`.
    """

    code: ClassVar[str] = "ACT011"
    name: ClassVar[str] = "action-range-misplaced"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ACT008")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["squashed-range"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "in a range that does not lie around 0 the best number is not learned",
            **shown(rung),
            help="print the action that is played, stored and given to the critic, for one step: all in one unit",
            confidence=0.8,
        )
