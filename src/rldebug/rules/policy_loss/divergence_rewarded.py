"""The divergence from the reference policy is rewarded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DivergenceRewarded(Rule):
    """The divergence from another policy enters the loss with a minus.

    ## What it checks
    The sign of a divergence penalty beside a policy gradient: to be kept near a reference, the policy pays for the
    distance. Only forms that are never negative are judged: an exact divergence, a squared log-ratio, and
    exp(d) − d − 1 put together from its two parts.

    ## Why it matters
    The policy is pushed away from the reference, the faster the further it is.

    ## Likely causes
    1. The penalty is subtracted from a loss that is minimised. Confirm: read the sign in front of it.
    2. The estimate itself has the wrong sign. Confirm: print it; its mean must not be negative.

    ## What to try first
    Add the penalty to the loss.

    ## When it is fine
    A coefficient that is learned or adapted has the right sign all the same.

    ## References
    Schulman, *Approximating KL Divergence* (2020).
    Seen in the wild: POL-19 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL307"
    name: ClassVar[str] = "divergence-rewarded"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "joined"

    losses: int = 3  # divergences beside a policy loss, in all

    def check(self, evidence: Script) -> Iterator[Finding]:
        found, judged = [], 0
        for each in surrogates(evidence):
            for term in each.beside:
                if term["kind"] != "other" or term["op"] != "kl":
                    continue
                judged += 1
                weight = term.arrays.get("weight")
                if float(term["coefficient"]) < 0 and (weight is None or float(np.min(weight)) >= 0):
                    found.append(term)
        if judged < self.losses:
            raise NotEnough(f"{judged} divergences beside a policy loss, needs {self.losses}")
        if len(found) < 0.9 * judged:
            return
        yield self.finding(
            "the divergence from the other policy is subtracted from the loss: it is rewarded",
            where=found[0].where,
            seen=f"a factor of {found[0]['coefficient']:.3g} in {len(found)} of {judged} losses",
            expected="a positive factor",
            help="add the divergence penalty to what is minimised",
            confidence=0.93,
        )
