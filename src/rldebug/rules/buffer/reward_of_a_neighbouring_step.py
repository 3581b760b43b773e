"""Targets use the reward of a neighbouring step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardOfANeighbouringStep(Rule):
    """Targets use the reward of a neighbouring step.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. The reward in it is the one of the step before, or
    after, the one that the row belongs to.

    ## Why it matters
    Each action is credited with what another one earned.

    ## Likely causes
    1. The reward of the last step is stored together with the new observation. Confirm: print observation, action and
       reward of three steps beside what the environment returned.
    2. A row is added before the step is taken. Confirm: the same.
    3. Arrays of observations have one row more than rewards, and are cut at the wrong end. Confirm: compare lengths.

    ## What to try first
    Store observation, action and the reward of that action in one line, after `env.step`.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: BUF-25 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF340"
    name: ClassVar[str] = "reward-of-a-neighbouring-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"
    follows: ClassVar[tuple[str, ...]] = ("ACT300",)

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.mistake in ("reward-late", "reward-early") and fit.audits >= 2:
                late = fit.mistake == "reward-late"
                yield self.finding(
                    f"each row holds the reward of the step {'before' if late else 'after'} it",
                    where=fit.where,
                    seen=f"the reward of step t {'-' if late else '+'} 1 in the target of step t, in {fit.share:.0%} "
                    f"of {fit.rows} steps",
                    expected="the reward that the action of the row was paid",
                    help="store the reward beside the observation and the action that earned it",
                    confidence=0.96,
                )
