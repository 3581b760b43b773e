"""Targets are in another order than the observations beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetsInAnotherOrder(Rule):
    """Targets are in another order than the observations beside them.

    ## What it checks
    The targets of a rollout follow no formula as they stand. They do, down to rounding, when they are turned round in
    time, or when time and environments are swapped: then each row holds the target of another one.

    ## Why it matters
    The critic, and with it the policy, learns from pairs that never happened.

    ## Likely causes
    1. Observations are flattened by time and targets by environment. Confirm: compare the shapes before the reshape.
    2. Returns are collected from the last step to the first and never reversed. Confirm: print the last target, it
       must be the reward of the last step or its bootstrap.

    ## What to try first
    Flatten all arrays with the same reshape, and reverse what was collected backwards.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: BUF-19 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF342"
    name: ClassVar[str] = "targets-in-another-order"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ordered"
    follows: ClassVar[tuple[str, ...]] = ("DIS621",)

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.order and fit.audits >= 2:
                turned = fit.order == "reversed"
                how = "turned round in time" if turned else "time and environments are swapped"
                yield self.finding(
                    "targets are in another order than the observations beside them",
                    where=fit.where,
                    seen=f"they fit in {fit.share:.0%} of {fit.rows} steps when {how}",
                    expected="the target of each observation in its own row",
                    help="reverse the returns once" if turned else "flatten targets and observations in the same way",
                    confidence=0.96,
                )
