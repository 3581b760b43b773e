"""Advantages are normalised before the returns are formed of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.rules.value_loss.target_from_normalised_advantages import TargetFromNormalisedAdvantages


@dataclass(frozen=True, kw_only=True)
class AdvantageNormalisedTooEarly(Rule):
    """Advantages are normalised before the returns are formed of them.

    ## What it checks
    The errors of the critic, target − value, are normalised batch by batch: the returns were made of advantages that
    had been normalised already.

    ## Why it matters
    Returns are advantages + values only as long as both have one scale. After normalising, the critic is sent after
    numbers that depend on its own error.

    ## Likely causes
    1. The line that normalises stands before the line that forms the returns. Confirm: read them in order.
    2. The advantages are normalised in place, and the returns are formed of the same array later. Confirm: print their
       mean and standard deviation just before.

    ## What to try first
    Form the returns first, and normalise a copy for the policy loss.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: ADV-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV354"
    name: ClassVar[str] = "advantage-normalised-too-early"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weight"

    def check(self, evidence: Script) -> Iterator[Finding]:
        for each in TargetFromNormalisedAdvantages().check(evidence):
            yield self.finding(
                "advantages are normalised before the returns are formed",
                where=each.where,
                seen=each.seen,
                expected="returns of advantages as they are",
                help="form returns = advantages + values first, then normalise",
                confidence=0.95,
            )
            return
