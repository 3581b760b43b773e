"""Targets bootstrap from the state itself, not from the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OwnStateBootstrapped(Rule):
    """Targets bootstrap from the state itself, not from the next one.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. What is added to the reward is the value of the
    observation of the step itself, not of the one it led to.

    ## Why it matters
    The target no longer depends on where the action led: nothing flows back from later states.

    ## Likely causes
    1. `values[t]` is written where `values[t + 1]` belongs. Confirm: read the recursion.
    2. The next observation that is stored is the observation itself, or a reference to the same array. Confirm:
       compare them.

    ## What to try first
    Bootstrap from the value of the next observation.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: ADV-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS306"
    name: ClassVar[str] = "own-state-bootstrapped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.mistake == "own-state" and fit.audits >= 2:
                yield self.finding(
                    "targets bootstrap from the value of the state itself",
                    where=fit.where,
                    seen=f"r + γ · V(s) with γ {fit.gamma:.4g} in {fit.share:.0%} of {fit.rows} steps within episodes",
                    expected="r + γ · V(s'), the value of the next observation",
                    help="use the value of the next observation in the target",
                    confidence=0.97,
                )
