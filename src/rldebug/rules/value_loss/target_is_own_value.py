"""The critic's target is its own value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_rows import sited
from rldebug.forensics.targets import Fit, fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetIsOwnValue(Rule):
    """The critic's target is its own value.

    ## What it checks
    The target of the critic is compared, row by row, with what the critic itself said of the same observation when
    acting: they are equal.

    ## Why it matters
    The critic learns to stay as it is. No reward reaches it.

    ## Likely causes
    1. Returns are built as advantage + value before the advantages are computed. Confirm: print the advantages where
       the sum is formed.
    2. The wrong array is passed to the loss. Confirm: read the line.

    ## What to try first
    Form the targets after the advantages.

    ## When it is fine
    As a second term that holds the critic back; where the same network learns from another target too, nothing is said.

    ## References
    Seen in the wild: VAL-02, ADV-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "VAL360"
    name: ClassVar[str] = "target-is-own-value"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weight"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.mistake == "own-value" and fit.audits >= 2 and _alone(evidence, fit):
                yield self.finding(
                    "the critic's target is what the critic said itself",
                    where=fit.where,
                    seen=f"target = V(s) at acting time in {fit.share:.0%} of {fit.rows} steps",
                    expected="a target that the rewards are in",
                    help="form returns = advantages + values after the advantages are computed",
                    confidence=0.97,
                )


def _alone(evidence: Script, fit: Fit) -> bool:
    """No other regression trains the same networks, and it is no penalty that holds the mean of a policy in place."""
    own = set(fit.site[2])
    sites = {site for audit in evidence.audits for site, _ in sited(audit, "regression")}
    if any(site != fit.site and own & set(site[2]) for site in sites):
        return False
    acting = {name for audit in evidence.audits for site, _ in sited(audit, "policy") for name in site[2]}
    actions = np.concatenate([audit.nodes.action[audit.nodes.acted].ravel() for audit in evidence.audits])
    return own != acting or bool((actions == np.rint(actions)).all())
