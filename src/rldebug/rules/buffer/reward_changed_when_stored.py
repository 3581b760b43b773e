"""Rewards lose their sign or their fraction on the way into the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardChangedWhenStored(Rule):
    """Rewards lose their sign or their fraction on the way into the target.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. What it leaves for the reward is compared with the
    reward that the environment paid: negative ones have become 256 more, or fractions are cut off.

    ## Why it matters
    A penalty is learned as a large prize, or small rewards as nothing.

    ## Likely causes
    1. The array that rewards are stored in has an integer type. Confirm: print its dtype.
    2. Rewards are converted together with actions or flags. Confirm: print a reward before and after it is stored.

    ## What to try first
    Store rewards as float32.

    ## When it is fine
    Never, unless rewards are meant to be rounded.

    ## References
    Seen in the wild: BUF-26 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF341"
    name: ClassVar[str] = "reward-changed-when-stored"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.stored and fit.audits >= 2:
                as_bytes = fit.stored == "bytes"
                seen = (
                    "256 more than was paid where the reward is negative"
                    if as_bytes
                    else "the whole part of the reward"
                )
                yield self.finding(
                    "negative rewards are learned as large positive ones"
                    if as_bytes
                    else "rewards are cut to whole numbers",
                    where=fit.where,
                    seen=f"{seen}, in the targets",
                    expected="the reward that the environment paid",
                    help="store rewards in an array of float32",
                    confidence=0.95,
                )
