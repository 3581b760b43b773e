"""Truncated steps are bootstrapped, and go on into the next episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LimitBootstrappedTwice(Rule):
    """Truncated steps are bootstrapped, and go on into the next episode.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In steps that the environment truncated, the value
    of the observation in which the episode was cut off is added, and beside it what a step within an episode has: the
    value, and the sum, of the step that was taken next, in another episode.

    ## Why it matters
    The future is counted twice: states shortly before the time limit seem to be worth about twice what they are.

    ## Likely causes
    1. The value of the last observation is added to the reward, and the flag that is stored is `terminated` alone.
       Confirm: print the flag and the reward that are stored for a step that hits the time limit.

    ## What to try first
    Where the value was added to the reward, store `terminated or truncated` as the end.

    ## When it is fine
    Nothing that is known of. Where episodes are long, few steps are concerned.

    ## References
    Pardo et al. 2018, *Time Limits in Reinforcement Learning*; Stable-Baselines3, issue 633.
    """

    code: ClassVar[str] = "DIS250"
    name: ClassVar[str] = "limit-bootstrapped-twice"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ends"
    follows: ClassVar[tuple[str, ...]] = ("DIS300",)

    rows: int = 4  # truncated steps
    often: float = 0.002  # share of all steps that are truncated

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            ended = fit.ending("truncated", "twice")
            if ended is None or ended.audits < 2 or ended.hit < self.rows or not fit.values:
                continue
            yield self.finding(
                "truncated steps are bootstrapped, and go on into the next episode as well",
                where=fit.where,
                seen=f"the value of the last observation and what follows the reset, in {ended.hit} of {ended.rows} "
                "truncated steps",
                expected="reward + γ · value of the observation in which the episode was cut off, and nothing else",
                help="end the sum where the value was added: store terminated or truncated as the end of the step",
                confidence=0.95,
                severity="warning" if ended.share >= self.often else "note",
            )
