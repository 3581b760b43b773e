"""The mask for the end of an episode is inverted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EndMaskInverted(Rule):
    """The mask for the end of an episode is inverted.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. Within episodes the target is the reward alone; in
    terminated steps the value of the next observation is added.

    ## Why it matters
    Nothing is learned about later rewards, and ends are credited with a future that they do not have.

    ## Likely causes
    1. The value is multiplied by `terminated` instead of `1 - terminated`. Confirm: read the line that makes the
       target.
    2. What is stored is a mask already (1 where the episode goes on) and is subtracted from 1 once more. Confirm:
       print what is stored in the middle of an episode.

    ## What to try first
    Multiply the next value by `1 - terminated`.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: RWD-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS302"
    name: ClassVar[str] = "end-mask-inverted"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ends"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.mistake == "inverted" and fit.audits >= 2:
                yield self.finding(
                    "the next value is added where episodes end, and only there",
                    where=fit.where,
                    seen=f"the target is the reward alone in {fit.share:.0%} of {fit.rows} steps within episodes",
                    expected="reward + γ · next value within episodes, the reward alone where they end",
                    help="multiply the next value by (1 - terminated)",
                    confidence=0.98,
                )
