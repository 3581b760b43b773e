"""Targets stop where the rollout stops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RolloutEndNotBootstrapped(Rule):
    """Targets stop where the rollout stops.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In the last step before the program stops acting
    to learn, in the middle of an episode, the target is the reward alone, or is bootstrapped from the state itself
    instead of the next one, or from the state that the rollout began with.

    ## Why it matters
    The episode goes on. Every state of the rollout is credited with too little, the more the shorter the rollouts
    are.

    ## Likely causes
    1. The recursion starts from 0 instead of the value of the observation after the last step. Confirm: print the
       target and the reward of the last step.
    2. The value is asked of the last observation acted on, not of the one after it. Confirm: compare the two.
    3. The flag of the last step is set to done in order to close the buffer. Confirm: count the flags.

    ## What to try first
    Start the recursion from V of the observation that follows the last step, unless that step ended the episode.

    ## When it is fine
    Where rollouts are so long that the last step hardly counts; then a missing bootstrap is a note.

    ## References
    Mnih et al. 2016, *Asynchronous Methods for Deep Reinforcement Learning*, algorithm S3.
    Seen in the wild: ADV-20 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS305"
    name: ClassVar[str] = "rollout-end-not-bootstrapped"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    rows: int = 3  # that are the last of a rollout
    often: float = 0.015  # share of all steps that are the last of a rollout

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            ended = fit.ending("rollout", "zero", "own", "begun")
            if ended is None or ended.audits < 2 or ended.hit < self.rows or fit.what != "value" or not fit.values:
                continue
            what, seen = _SAID[ended.way]
            yield self.finding(
                f"the last step of a rollout is {what}",
                where=fit.where,
                seen=f"{seen} in {ended.hit} of {ended.rows} last steps, {ended.share:.1%} of all steps",
                expected="reward + γ · value of the observation after it",
                help="start the recursion from the value of the observation that follows the last step",
                confidence=0.95,
                severity="warning" if ended.way != "zero" or ended.share >= self.often else "note",
            )


_SAID = {
    "zero": ("not bootstrapped", "the reward alone"),
    "own": ("bootstrapped from its own state", "its own value"),
    "begun": ("bootstrapped from the state that the rollout began with", "the value of the first state of the lane"),
}
