"""Time limits are learned as ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.limits_felt import Felt, felt_at_limits, horizon_lost
from rldebug.forensics.targets import Fit, fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TimeLimitEndsTargets(Rule):
    """Time limits are learned as ends.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In steps that the environment truncated the target
    is the reward alone, as if nothing came after. It is a warning where it is shown to matter: a third of the episodes
    or more are cut off, a good part of what a state is worth lies behind the limit at this γ, and in the newest of
    those steps the critic expects far more than it is taught, so the observation does not tell it the time. (Or far
    less, where rewards are costs.)

    ## Why it matters
    The episode would have gone on. States near the limit are taken for worth less than they are; where the
    observation does not show the time, the same state gets contradicting targets.

    ## Likely causes
    1. `done = terminated or truncated` masks the next value. Confirm: follow the flag to the line that makes the
       target.

    ## What to try first
    Mask with `terminated` alone, and bootstrap truncated steps from the final observation.

    ## When it is fine
    Where the time left is part of the observation. Very often besides: many well-known programs do it, and where the
    limit is far away, or few episodes reach it, it hardly matters. So this is mostly a note.

    ## References
    Pardo et al. 2018, *Time Limits in Reinforcement Learning*.
    """

    code: ClassVar[str] = "DIS304"
    name: ClassVar[str] = "time-limit-ends-targets"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ends"

    rows: int = 6  # truncated steps
    cut: float = 0.33  # share of the episodes that are cut off, from which it may be a warning
    behind: float = 0.25  # share of the value of a state that lies behind the limit, on average
    missed: float = 0.5  # spreads of the targets, by which the critic expects more than it is taught there
    beyond: float = 0.6  # share of those steps where that is more than in four fifths of the others

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        told: set[Where] = set()
        for fit in fits:  # of twin critics, which learn from one target, the first
            ended = fit.ending("truncated", "zero")
            if ended is None or ended.audits < 2 or ended.hit < self.rows or fit.what == "weight":
                continue
            if fit.where in told:
                continue
            told.add(fit.where)
            felt = self._felt(evidence, fit)
            more = "" if felt is None else _shown(felt)
            yield self.finding(
                "truncated steps are learned as if the episode had ended",
                where=fit.where,
                seen=f"the reward alone in {ended.hit} of {ended.rows} truncated steps{more}",
                expected="reward + γ · value of the observation in which the episode was cut off",
                help="mask the next value with terminated alone",
                confidence=0.9,
                severity=self.severity if felt is None else "warning",
            )

    def _felt(self, script: Script, fit: Fit) -> Felt | None:
        """What the critic says there, where it matters."""
        if fit.gamma is None or (fit.what == "value" and fit.name not in ("td", "gae")):
            return None  # nothing is bootstrapped anywhere
        felt = felt_at_limits(script, fit.site)
        if felt is None or felt.cut < self.cut or horizon_lost(fit.gamma, felt.length) < self.behind:
            return None
        return felt if felt.missed >= self.missed and felt.share >= self.beyond else None


def _shown(felt: Felt) -> str:
    return (
        f"; {felt.cut:.0%} of the episodes are cut off, after {felt.length:.0f} steps, and there the critic expects "
        f"{felt.expected:.3g} and is taught {felt.taught:.3g}"
    )
