"""The critic is taught the advantages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.advantage_targets import advantage_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CriticLearnsAdvantages(Rule):
    """The critic is taught the advantages.

    ## What it checks
    The targets of the critic are traced back to the steps they belong to, and held against reward, value and next
    value there. A return does not hold the value of the state itself; these targets do, with a minus: they are
    returns − values, down to rounding.

    ## Why it matters
    The critic learns how much better than expected things went, which is about 0, in place of what is to come. Then
    the advantages are returns without a baseline, or worse.

    ## Likely causes
    1. The value loss is given the advantages. Confirm: print target and advantage of ten rows; they are the same.
    2. `returns = advantages + values` lost its second half. Confirm: read that line.

    ## What to try first
    `returns = advantages + values`, with the values of the rollout, before the advantages are normalised.

    ## When it is fine
    Networks that predict advantages on purpose, beside a critic.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "VAL368"
    name: ClassVar[str] = "critic-learns-advantages"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weight"

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = advantage_targets(evidence)
        if not found and not any(True for _ in evidence.terms("regression")):
            raise NotEnough("no regression was seen")
        for each in found:
            yield self.finding(
                "the critic is taught the advantages in place of the returns",
                where=each.where,
                seen=f"reward + {each.gamma:.3g} · next value − value in the targets of {each.rows} steps "
                f"of {each.audits} updates",
                expected="targets that do not hold the value of the state itself",
                help="train the critic on advantages + values",
                confidence=0.95,
            )
