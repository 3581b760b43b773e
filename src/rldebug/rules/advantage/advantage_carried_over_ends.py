"""The sum of the advantage is carried over the end of an episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageCarriedOverEnds(Rule):
    """The sum of the advantage is carried over the end of an episode.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In terminated steps the next value is left out, as
    it should, but γλ times the advantage of the next episode's first step is added. Or it is in truncated
    steps, beside the value of the last observation, which belongs there.

    ## Why it matters
    What happened in the next episode is credited to the last actions of this one.

    ## Likely causes
    1. The mask is applied to the TD error and not to the carried sum. Confirm: the advantage of a terminated step
       must be its reward − value.

    ## What to try first
    `gae = delta + gamma * lam * (1 - done) * gae`.

    ## When it is fine
    Never.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    Seen in the wild: ADV-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV322"
    name: ClassVar[str] = "advantage-carried-over-ends"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "carried"

    rows: int = 4  # steps that end an episode

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            ended = fit.ending("terminated", "leak") or fit.ending("truncated", "leak", "carried")
            if (
                ended is not None
                and ended.audits >= 2
                and ended.hit >= self.rows
                and not fit.ending("first", "zero", "leak")
            ):
                yield self.finding(
                    "the advantage is carried over the end of an episode",
                    where=fit.where,
                    seen=f"the next episode's advantage is added in {ended.hit} of {ended.rows} {ended.kind} steps",
                    expected="nothing of the next episode where one ended",
                    help="multiply the carried sum by (1 - done) too, where done is an end of either kind",
                    confidence=0.97,
                )
