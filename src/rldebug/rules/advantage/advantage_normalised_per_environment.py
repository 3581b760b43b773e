"""Advantages are normalised for each environment on its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_weights
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageNormalisedPerEnvironment(Rule):
    """Advantages are normalised for each environment on its own.

    ## What it checks
    The weights of the log-probs are a straight line of the advantages within each environment, and another one in
    each.

    ## Why it matters
    An environment in which all went badly counts as much as one in which all went well: the difference between them
    is lost.

    ## Likely causes
    1. Mean and standard deviation are taken along the axis of time. Confirm: print the shape of the mean.

    ## What to try first
    Normalise over all rows of the batch.

    ## When it is fine
    Where environments pay in different units.

    ## References
    Andrychowicz et al. 2021, *What Matters in On-Policy Reinforcement Learning?*
    """

    code: ClassVar[str] = "ADV323"
    name: ClassVar[str] = "advantage-normalised-per-environment"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weight"

    def check(self, evidence: Script) -> Iterator[Finding]:
        weights = fit_weights(evidence)
        if not weights:
            raise NotEnough("what the log-probs are weighted with was not found")

        for each in weights:
            if each.of == "per-lane" and each.slope > 0:
                yield self.finding(
                    "advantages are normalised for each environment on its own",
                    where=each.where,
                    seen=f"scale and mean differ from environment to environment in {each.terms} losses",
                    expected="one mean and one standard deviation for the batch",
                    help="normalise over the whole batch",
                    confidence=0.9,
                )
