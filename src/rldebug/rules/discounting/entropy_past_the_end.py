"""Terminal states are paid an entropy bonus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyPastTheEnd(Rule):
    """Terminal states are paid an entropy bonus.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. In terminated steps the next value is left out, as
    it should, but the entropy term of the next action is still added.

    ## Why it matters
    No action is taken after the end. Ending an episode is paid for by the bonus, more than the reward may be.

    ## Likely causes
    1. The mask is on the next value alone: `r + gamma * (1 - d) * q - alpha * logp`. Confirm: read where the bracket
       closes.

    ## What to try first
    `r + gamma * (1 - d) * (q - alpha * logp)`.

    ## When it is fine
    Never in soft actor-critic.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic*.
    """

    code: ClassVar[str] = "DIS310"
    name: ClassVar[str] = "entropy-past-the-end"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ends"

    rows: int = 6  # terminated steps

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            ended = fit.ending("terminated", "entropy")
            if ended is not None and ended.audits >= 2 and ended.hit >= self.rows:
                yield self.finding(
                    "the entropy term is added where the episode has ended",
                    where=fit.where,
                    seen=f"reward and entropy term in {ended.hit} of {ended.rows} terminated steps",
                    expected="the reward alone where the environment said terminated",
                    help="put the entropy term inside the bracket that is multiplied by (1 - terminated)",
                    confidence=0.97,
                )
