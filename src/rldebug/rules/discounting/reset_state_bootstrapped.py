"""Truncated steps bootstrap from the first state of the next episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ResetStateBootstrapped(Rule):
    """Truncated steps bootstrap from the first state of the next episode.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In steps that the environment truncated, the value
    that is added is the one of the observation of the reset, not of the one in which the episode was cut off.

    ## Why it matters
    The state at the time limit is credited with the value of a start that it does not lead to.

    ## Likely causes
    1. A vector environment has reset itself, and its observation is taken for the next one. Confirm: compare it with
       the final observation that the environment hands over beside it.
    2. The observation is overwritten by `reset` before the transition is stored. Confirm: print both.

    ## What to try first
    Bootstrap from the final observation (`final_obs`, `terminal_observation`) in truncated steps.

    ## When it is fine
    Where episodes are long, few steps are concerned.

    ## References
    Pardo et al. 2018, *Time Limits in Reinforcement Learning*.
    Seen in the wild: BUF-05, ADV-13 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS303"
    name: ClassVar[str] = "reset-state-bootstrapped"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"
    follows: ClassVar[tuple[str, ...]] = ("DIS300",)

    rows: int = 4  # truncated steps
    often: float = 0.002  # share of all steps that are truncated

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            ended = fit.ending("truncated", "follows", "value", "reset")
            if (
                ended is None
                or ended.audits < 2
                or ended.hit < self.rows
                or fit.ending("terminated", "follows", "value")
            ):
                continue
            if fit.what == "weight" or not fit.values:
                continue
            yield self.finding(
                "truncated steps bootstrap from the first state of the next episode",
                where=fit.where,
                seen=f"the value of the reset observation in {ended.hit} of {ended.rows} truncated steps",
                expected="the value of the observation in which the episode was cut off",
                help="bootstrap from the final observation that the environment hands over when it truncates",
                confidence=0.9,
                severity="warning" if ended.share >= self.often else "note",
            )
