"""The discount factor is given, and no line uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.options import unread
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DiscountNeverUsed(Rule):
    """The discount factor is given, and no line uses it.

    ## What it checks
    The source of the program, when it has ended. A setting whose name means the discount factor (an option, a field of
    a config, a constant, a parameter of a function) is used in no line: it is at most handed on under the same name, or
    printed. Where settings are read by names that are made up at run time, nothing is said.

    ## Why it matters
    Rewards of the far future count as much as the next one, or some other factor is at work than the one that is set.
    Changing the setting changes nothing.

    ## Likely causes
    1. The multiplication was lost when the formula was written or changed. Confirm: look at the recursion of the
       returns.
    2. The function has a constant of its own. Confirm: look for a number like 0.99 in it.

    ## What to try first
    Multiply what comes after a step by the setting, once for each step.

    ## When it is fine
    A factor of 1 does nothing, and is left out.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 3 (returns).
    """

    code: ClassVar[str] = "DIS390"
    name: ClassVar[str] = "discount-never-used"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # a setting may be left over on purpose
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if "arguments" in evidence.counts.get("off", ()) or not evidence.counts.get("updates"):
            raise NotEnough("options were not watched, or nothing was trained")
        found = [each for each in unread(evidence, "discount") if each.value != 1]
        if found:
            first = found[0]
            yield self.finding(
                "the discount factor is used nowhere",
                where=first.place,
                seen=first.seen,
                expected="the factor in the formula of the returns or targets",
                help=f"multiply the value of what follows by {first.name}",
                confidence=0.75,
            )
