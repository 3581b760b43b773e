"""The temperature grows while the policy is more random than wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.temperature import temperatures
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TemperatureMovesTheWrongWay(Rule):
    """The temperature grows while the policy is more random than wanted.

    ## What it checks
    A single number is learned whose gradient is a straight line in the mean log-prob of the policy, down to rounding:
    the temperature. Its gradient must fall with the log-prob, so that it rises when the policy is too certain. Here it
    grows with it.

    ## Why it matters
    Too much entropy raises the bonus for entropy further, and too little lowers it: the policy ends up fully random or
    fully certain.

    ## Likely causes
    1. The minus of `-(log_alpha * (log_prob + target_entropy)).mean()` is missing. Confirm: read the line.
    2. The entropy is used with the signs of a log-prob. Confirm: the same.

    ## What to try first
    `-(log_alpha * (log_prob + target_entropy).detach()).mean()`.

    ## When it is fine
    Never.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    """

    code: ClassVar[str] = "ENT361"
    name: ClassVar[str] = "temperature-moves-the-wrong-way"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    steps: int = 8  # of the temperature

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = temperatures(evidence)
        if not found:
            raise NotEnough("no temperature was seen to be learned")
        if any((each.get("settings") or {}).get("maximize") for each in evidence.optimizers.values()):
            raise NotEnough("an optimizer climbs its loss")
        for each in found:
            if each.slope > 0 and each.steps >= self.steps:
                yield self.finding(
                    "the temperature grows while the policy is more random than wanted",
                    where=each.where,
                    seen=f"its gradient is {each.slope:+.3g} times the mean log-prob, plus a constant, in {each.steps} "
                    "steps",
                    expected="a negative factor",
                    help="turn the sign of the temperature's loss: -(log_alpha * (log_prob + target_entropy)).mean()",
                    confidence=0.96,
                )
