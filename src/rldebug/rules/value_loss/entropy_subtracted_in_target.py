"""The soft target punishes entropy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.squashing import soft_log_probs
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropySubtractedInTarget(Rule):
    """The soft target punishes entropy.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. The log-prob of the next action enters it with a
    positive sign.

    ## Why it matters
    Soft targets add −α log π: what is likely is worth less. With the other sign a sure policy is rewarded for being
    sure, and exploration ends.

    ## Likely causes
    1. `+ alpha * log_prob` is written where `- alpha * log_prob` belongs. Confirm: read the line.

    ## What to try first
    Subtract α times the log-prob from the next value.

    ## When it is fine
    Never in soft actor-critic.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic*.
    """

    code: ClassVar[str] = "VAL363"
    name: ClassVar[str] = "entropy-subtracted-in-target"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        squashed = soft_log_probs(evidence)
        if not fits and not squashed:
            raise NotEnough("the formula of no target was found")

        added = [each for each in squashed if each.weight < 0]
        if len(added) >= 2 and len(added) == len(squashed):
            # Also of a network that learns the value of the state itself, as in the first SAC.
            yield self.finding(
                "the soft target adds the log-prob of the action",
                where=added[0].where,
                seen=f"with the coefficient {-added[0].weight:+.3g}, beside the value, in {len(added)} losses",
                expected="a negative coefficient",
                help="subtract alpha times the log-prob from the value",
                confidence=0.95,
            )
            return
        for fit in fits:
            if (
                fit.what == "q"
                and fit.entropy is not None
                and fit.entropy > 1e-4
                and fit.audits >= 2
                and not fit.mistake
            ):
                yield self.finding(
                    "the soft target adds the log-prob of the next action",
                    where=fit.where,
                    seen=f"with the coefficient {fit.entropy:+.3g} in {fit.share:.0%} of {fit.rows} steps",
                    expected="a negative coefficient",
                    help="subtract alpha times the log-prob from the next value",
                    confidence=0.95,
                )
