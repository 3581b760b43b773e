"""The policy loss has the wrong sign, seen by what its weights are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets, fit_weights
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BetterMadeLessLikely(Rule):
    """Actions that turned out better are made less likely.

    ## What it checks
    The weights of the log-probs are compared with the advantages that follow from the targets of the critic, or with
    the returns that follow from the rewards: they are the same up to a *negative* factor, as the loss is minimised.

    ## Why it matters
    What turned out better than expected is made less likely: the policy learns to fail.

    ## Likely causes
    1. The loss lacks its minus, or has one too many. Confirm: for a positive advantage the loss must fall when the
       log-prob rises.
    2. The advantage is value − return. Confirm: print return, value and weight of one row.
    3. A cost is treated as a reward. Confirm: follow the sign from `env.step` to the loss.

    ## What to try first
    Turn the sign of the policy loss.

    ## When it is fine
    Where the environment pays costs that are to be minimised, and the program knows: only the returns can tell then.

    ## References
    Sutton & Barto 2018, section 13.3.
    Seen in the wild: POL-18 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL340"
    name: ClassVar[str] = "better-made-less-likely"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "pushed"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits, weights = fit_targets(evidence), fit_weights(evidence)
        if not fits and not weights:
            raise NotEnough("what the log-probs are weighted with was not found")
        if any((each.get("settings") or {}).get("maximize") for each in evidence.optimizers.values()):
            raise NotEnough("an optimizer climbs its loss")
        if any(each.slope > 0 for each in weights):
            return  # beside it a cost may well be weighted the other way
        for each in weights:
            if each.of in ("advantage", "td-error", "per-lane") and each.slope < 0:
                yield self.finding(
                    "what turned out better is made less likely",
                    where=each.where,
                    seen=f"the weight of the log-probs is {each.slope:.3g} · (target − value) in {each.rows} rows",
                    expected="a positive factor",
                    help="turn the sign of the policy loss, or of the advantage",
                    confidence=0.97,
                )
                return
        for fit in fits:
            if fit.what == "weight" and fit.audits >= 2 and not fit.mistake and fit.reward < 0:
                yield self.finding(
                    "what was paid more is made less likely",
                    where=fit.where,
                    seen=f"rewards enter the weight with the factor {fit.reward:.3g} in {fit.rows} steps",
                    expected="a positive factor",
                    help="turn the sign of the policy loss",
                    confidence=0.93,
                    severity="warning",  # the environment may pay costs
                )
