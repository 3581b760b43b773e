"""Advantages are normalised together with the filler after episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.padded_episodes import padded_terms
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FillerInTheNormalisation(Rule):
    """Advantages are normalised together with the filler after episodes.

    ## What it checks
    Sequences side by side, filled up to the length of the longest, and what the log-probs are multiplied with: over all
    rows, filler or not, its mean is 0 and its standard deviation 1, down to rounding; over the steps alone its mean is
    another one.

    ## Why it matters
    Filler draws the mean to itself and makes the deviation small. How good a step looks depends on how much filler
    happens to lie beside it, and with much of it the sign may turn.

    ## Likely causes
    1. `advantage.mean()` and `.std()` of the padded batch, and the mask is only used in the loss. Confirm: compare with
       `advantage[mask].mean()`.

    ## What to try first
    `kept = advantage[mask.bool()]; (advantage - kept.mean()) / (kept.std() + 1e-8)`.

    ## When it is fine
    Never.

    ## References
    Huang et al. 2022, *The 37 Implementation Details of Proximal Policy Optimization*.
    """

    code: ClassVar[str] = "ADV337"
    name: ClassVar[str] = "filler-in-the-normalisation"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    losses: int = 3  # that show it
    filler: int = 4  # rows of it in a loss, at least
    exact: float = 2e-4  # of mean and deviation
    off: float = 0.01  # mean of the steps alone

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen, found = 0, []
        for audit in evidence.audits:
            for call, term in padded_terms(audit):
                weight = term.arrays.get("weight") if term["kind"] == "policy" else None
                if weight is None or np.size(weight) != call.count or call.filler.sum() < self.filler:
                    continue
                seen += 1
                given = np.ravel(weight).astype(np.float64)
                own = float(given[~call.filler].mean())
                spread = min(abs(float(given.std(ddof=each)) - 1.0) for each in (0, 1))
                if abs(float(given.mean())) < self.exact and spread < self.exact and abs(own) > self.off:
                    found.append((term, own, float(call.filler.mean())))
        if seen < self.losses:
            raise NotEnough(f"{seen} policy losses over padded sequences, needs {self.losses}")
        if len(found) < max(self.losses, 0.5 * seen):
            return
        term, own, share = found[0]
        yield self.finding(
            "advantages are normalised together with the filler after the end of episodes",
            where=term.where,
            seen=f"mean 0 and deviation 1 over all rows in {len(found)} of {seen} losses; the mean of the steps "
            f"alone is {own:.2g}, and {share:.0%} of the rows are filler",
            expected="mean 0 and deviation 1 over the steps",
            help="take mean and deviation of the rows within the mask alone",
            confidence=0.94,
        )
