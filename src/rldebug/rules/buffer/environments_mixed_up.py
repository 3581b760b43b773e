"""Rows of environments side by side are mixed up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EnvironmentsMixedUp(Rule):
    """Rows of environments side by side are mixed up.

    ## What it checks
    Each environment stays in a state of its own and pays its own: the values learned are mixtures of them.

    ## Why it matters
    With environments that are alike, mixing them only adds noise, which nobody notices.

    ## Likely causes
    1. An array `(T, B)` is reshaped where it should be transposed. Confirm: put the environment's index into the
       reward, and print a column.
    2. What stands for the rest, after a rollout or where time ran out, is a neighbour's value. Confirm: print
       `last_value` beside the observations it was computed from.
    3. Flat rows are in the order of time in one array and of environments in another. Confirm: flatten an array of
       indices the same way, and look at it.

    ## What to try first
    Put the environment's index into the reward, and print the returns by environment.

    ## When it is fine
    Never.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "BUF015"
    name: ClassVar[str] = "environments-mixed-up"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ADV007", "DIS013", "DIS016", "BUF009")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["side-by-side"]
        if rung.outcome != "failed" or rung.matched[:1] == ("truncation-as-end",):
            return
        yield self.finding(
            "rows of environments side by side are mixed up",
            **shown(rung),
            help="put the environment's index into the reward, and print the returns by environment",
            confidence=0.8,
        )
