"""The last step of every rollout, or of every episode, has no advantage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule

_OF = {"rollout": "rollout", "terminated": "episode"}


@dataclass(frozen=True, kw_only=True)
class LastStepLeftOut(Rule):
    """The last step of every rollout, or episode, has no advantage.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In the last step before the program stops acting
    to learn, in the middle of an episode, the target is the critic's own value: the sum was never formed there. Or it
    is so in the last step of episodes.

    ## Why it matters
    These steps teach nothing, and each step before them lacks what came last. The shorter the rollouts, the more.

    ## Likely causes
    1. The loop that runs backwards starts one step too early, at `T - 2`. Confirm: print the advantage of the last
       step; it is 0.
    2. There is no value for the observation after the last step, and so the step was left out. Confirm: the same.

    ## What to try first
    Start at the last step, and bootstrap it from the value of the observation that follows.

    ## When it is fine
    Where rollouts are so long that the last step hardly counts; then this is a note.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV500"
    name: ClassVar[str] = "last-step-left-out"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    rows: int = 3  # that are the last of a rollout
    often: float = 0.01  # share of all steps that are the last of a rollout

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")
        for fit in fits:
            ended = fit.ending("terminated", "itself") or fit.ending("rollout", "itself")
            if ended is None or ended.audits < 2 or ended.hit < self.rows or fit.what != "value" or not fit.values:
                continue
            yield self.finding(
                f"the last step of every {_OF[ended.kind]} is left out of the advantages",
                where=fit.where,
                seen=f"the target is the value itself in {ended.hit} of {ended.rows} last steps, {ended.share:.1%} of "
                "all steps",
                expected="reward + γ · value of the observation after it, where there is one",
                help="start the recursion at the last step, from the value of the observation that follows",
                confidence=0.95,
                severity="note" if ended.kind == "rollout" and ended.share < self.often else "warning",
            )
            return
