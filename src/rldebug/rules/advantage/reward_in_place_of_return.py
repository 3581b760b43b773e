"""The advantage is the reward of the step minus the value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_weights
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardInPlaceOfReturn(Rule):
    """The advantage is the reward of the step minus the value.

    ## What it checks
    The weights of the log-probs are a straight line of reward − V(s), down to rounding, in steps that another one
    follows. The targets of the critic are something else.

    ## Why it matters
    A value counts all that is to come. Against it a single reward is nearly always bad, and what an action leads to
    is not credited.

    ## Likely causes
    1. The reward is used where the return or reward + γ V(s') belongs. Confirm: read the line that makes the
       advantage.

    ## What to try first
    Use return − value.

    ## When it is fine
    Bandits, where each choice stands alone.

    ## References
    Seen in the wild: ADV-21 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV324"
    name: ClassVar[str] = "reward-in-place-of-return"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"
    follows: ClassVar[tuple[str, ...]] = ("DIS308",)

    def check(self, evidence: Script) -> Iterator[Finding]:
        weights = fit_weights(evidence)
        if not weights:
            raise NotEnough("what the log-probs are weighted with was not found")

        for each in weights:
            if each.of == "reward":
                yield self.finding(
                    "the advantage is the reward of the step minus the value",
                    where=each.where,
                    seen=f"{each.share:.0%} of {each.rows} weights of log-probs are on that line",
                    expected="the return, or reward + γ · next value, minus the value",
                    help="replace the reward by the return in the advantage",
                    confidence=0.93,
                )
