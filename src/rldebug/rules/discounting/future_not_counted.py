"""Targets are the reward of the step alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets, only_critic
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FutureNotCounted(Rule):
    """Targets are the reward of the step alone.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. It is the reward of the step, and nothing else:
    neither later rewards nor a value is added, although episodes go on.

    ## Why it matters
    An action is credited with what it earns at once. What pays off later is never learned.

    ## Likely causes
    1. The reward is used where the return belongs. Confirm: print both for the first steps of an episode.
    2. The mask is 0 everywhere, so that nothing is ever added. Confirm: print the mask.
    3. γ is 0. Confirm: print it.

    ## What to try first
    Use reward + γ · next value, or the discounted sum of rewards.

    ## When it is fine
    Bandits, where each choice stands alone. A network that learns the rewards themselves is left out: it is not the
    only regression of a program.

    ## References
    Sutton & Barto 2018, section 3.3.
    Seen in the wild: ADV-21 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS308"
    name: ClassVar[str] = "future-not-counted"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "discount"
    follows: ClassVar[tuple[str, ...]] = ("DIS302",)

    sure: float = 0.97  # share of steps

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.what == "value" and not only_critic(evidence, fit):
                continue  # it may be a model of the rewards
            if fit.name == "reward" and not fit.mistake and fit.audits >= 2 and fit.share >= self.sure:
                what = {
                    "value": "the critic's target",
                    "q": "the target of Q",
                    "weight": "the weight of the log-probs",
                }[fit.what]
                yield self.finding(
                    f"{what} is the reward of the step alone",
                    where=fit.where,
                    seen=f"the reward in {fit.share:.0%} of {fit.rows} steps that another one follows",
                    expected="the reward and, discounted, what follows",
                    help="add γ times the next value, or the discounted later rewards",
                    confidence=0.93,
                )
