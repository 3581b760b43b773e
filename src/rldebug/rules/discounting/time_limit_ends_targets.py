"""Time limits are learned as ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TimeLimitEndsTargets(Rule):
    """Time limits are learned as ends.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In steps that the environment truncated the target
    is the reward alone, as if nothing came after.

    ## Why it matters
    The episode would have gone on. States near the limit are taken for worth less than they are; where the
    observation does not show the time, the same state gets contradicting targets.

    ## Likely causes
    1. `done = terminated or truncated` masks the next value. Confirm: follow the flag to the line that makes the
       target.

    ## What to try first
    Mask with `terminated` alone, and bootstrap truncated steps from the final observation.

    ## When it is fine
    Very often: many well-known programs do it, and where the limit is far away it hardly matters. So this is a note.

    ## References
    Pardo et al. 2018, *Time Limits in Reinforcement Learning*.
    """

    code: ClassVar[str] = "DIS304"
    name: ClassVar[str] = "time-limit-ends-targets"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ends"

    rows: int = 6  # truncated steps

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            ended = fit.ending("truncated", "zero")
            if ended is None or ended.audits < 2 or ended.hit < self.rows or fit.what == "weight":
                continue
            yield self.finding(
                "truncated steps are learned as if the episode had ended",
                where=fit.where,
                seen=f"the reward alone in {ended.hit} of {ended.rows} truncated steps",
                expected="reward + γ · value of the observation in which the episode was cut off",
                help="mask the next value with terminated alone",
                confidence=0.9,
            )
