"""The TD error adds the value of the state and takes off the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.weight_recursion import recursions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValuesSwappedInTdError(Rule):
    """The TD error adds the value of the state and takes off the next one.

    ## What it checks
    The weights of the log-probs follow a recursion over reward, value and next value, down to rounding. The reward
    counts as it should, but the value of the state itself is added, and the one of the next state is taken off.

    ## Why it matters
    An action that leads to a better state is made less likely.

    ## Likely causes
    1. The slices are swapped: `r + gamma * v[:-1] - v[1:]`. Confirm: read the line of the TD error.
    2. The arrays of values and next values are passed in the wrong order. Confirm: print both for an end of an
       episode.

    ## What to try first
    `delta = r + gamma * v_next * not_done - v`.

    ## When it is fine
    Never.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV352"
    name: ClassVar[str] = "values-swapped-in-td-error"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = recursions(evidence)
        if not found:
            raise NotEnough("no advantage follows a recursion that is known")
        for each, where in found:
            if each.swapped:
                yield self.finding(
                    "the TD error takes off the next value and adds the value of the state",
                    where=where,
                    seen=f"so in {each.share:.0%} of {each.rows} weights of log-probs, in {each.audits} audits",
                    expected="reward + γ · next value − value",
                    help="swap value and next value in the TD error",
                    confidence=0.95,
                )
                return
