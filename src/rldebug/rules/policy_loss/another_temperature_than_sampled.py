"""Tokens are sampled at one temperature and learned at another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.tokens import rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnotherTemperatureThanSampled(Rule):
    """Tokens are sampled at one temperature and learned at another.

    ## What it checks
    What the sampler multiplied the scores with is read off the probabilities it drew from; what the loss multiplies
    them with, off its gradient. Both are exact to many digits, and they differ.

    ## Why it matters
    The log-prob that is learned is not that of the policy that wrote the tokens: the ratio is off before the first
    update, and clipping and divergence are computed for a policy nobody sampled from.

    ## Likely causes
    1. The function that scores sequences does not divide by the temperature. Confirm: look for the temperature in
       both places.
    2. It is divided twice, once inside the model. Confirm: the same.

    ## What to try first
    Divide the scores by the sampling temperature wherever log-probs are computed, for the policy and for the
    reference.

    ## When it is fine
    A program may mean to learn at temperature one what it samples at another; then its first ratio must be computed
    from log-probs at temperature one as well.

    ## References
    Bug kind POL-13 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL381"
    name: ClassVar[str] = "another-temperature-than-sampled"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scored"

    passes: int = 2  # that learn from what was written
    apart: float = 0.04  # relative difference of the two factors; an entropy bonus moves one of them a little

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        for each in (one for found in rounds(evidence) for one in found.passes):
            learned, drawn = each.gradient.get("slope"), each.writing.inverse_temperature
            if learned is None or drawn is None or learned <= 0 or drawn <= 0 or each.labels_at(1) < 0.9:
                continue
            judged += 1
            if abs(learned / drawn - 1.0) > self.apart:
                wrong.append((each, 1 / learned, 1 / drawn))
        if judged < self.passes:
            raise NotEnough(f"{judged} passes whose temperature and whose sampler's are known, needs {self.passes}")
        if len(wrong) < max(self.passes, 0.9 * judged):
            return
        each, learned, drawn = wrong[0]
        yield self.finding(
            "tokens are sampled at one temperature and learned at another",
            where=each.call.where,
            seen=f"sampled at temperature {drawn:.3g}, learned at {learned:.3g}",
            expected="the same temperature in both",
            help="divide the scores by the sampling temperature where log-probs are computed",
            confidence=0.95,
        )
