"""The action with the smallest value is executed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.exploring import discrete, sampled, steps_of, valued
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WorstActionTaken(Rule):
    """The action with the smallest value is executed.

    ## What it checks
    Steps for which the network that learns the values of the actions was asked: what was executed is nearly always the
    action with the smallest value, while targets are bootstrapped from the largest one.

    ## Why it matters
    The agent does what it believes to be worst; what it learns is how bad that is.

    ## Likely causes
    1. `argmin` where `argmax` was meant. Confirm: read the line that chooses.
    2. Costs are learned as rewards, or a sign was changed on one side only. Confirm: look at the sign of the reward.

    ## What to try first
    Choose the action with `argmax`.

    ## When it is fine
    Networks that learn costs take the smallest value in their targets as well, and are not judged.

    ## References
    Sutton and Barto, *Reinforcement Learning: An Introduction* (2018), section 6.5.
    """

    code: ClassVar[str] = "EXP302"
    name: ClassVar[str] = "worst-action-taken"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "drawn"

    steps: int = 50  # for which the network was asked
    audits: int = 3  # in which it was asked
    share: float = 0.9  # of those steps

    def check(self, evidence: Script) -> Iterator[Finding]:
        count = discrete(evidence)
        found = [
            each
            for each in steps_of(evidence)
            if each.module in valued(evidence) and each.output.shape[1] == count and each.asked.sum() >= 4
        ]
        asked = sum(int(np.isfinite(each.agrees()).sum()) for each in found)
        if asked < self.steps or len(found) < self.audits or sampled(evidence):
            raise NotEnough(f"{asked} steps for which a network of values was asked, needs {self.steps}")
        worst = float(np.nanmean(np.concatenate([each.agrees(least=True) for each in found])))
        best = float(np.nanmean(np.concatenate([each.agrees() for each in found])))
        if worst < self.share or best > 1 - self.share:
            return
        if not any(fit.what == "q" and ("max" in fit.name or "double" in fit.name) for fit in fit_targets(evidence)):
            return
        line = next((each.line for each in found if each.line), None)
        yield self.finding(
            "the action with the smallest value is executed",
            where=Where(file=line[0], line=line[1]) if line else Where(),
            seen=f"in {worst:.0%} of {asked} steps for which the network was asked; the largest in {best:.0%}",
            expected="the action with the largest value",
            help="choose the action with argmax",
            confidence=0.95,
        )
