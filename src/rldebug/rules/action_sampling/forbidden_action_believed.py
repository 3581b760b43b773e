"""Actions that are passed over when acting are believed in the targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.exploring import discrete, sampled, steps_of, valued
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ForbiddenActionBelieved(Rule):
    """Actions that are passed over when acting are believed in the targets.

    ## What it checks
    A network of values is asked for actions, but not where they are random. In many of those steps its best action is
    not executed, and mostly the next best one is: the best was forbidden there. The targets follow exactly the largest
    value of the next state, of all actions.

    ## Why it matters
    A forbidden action is never tried, so its value is never corrected; a target that believes it carries that error
    into the states before.

    ## Likely causes
    1. The mask is used where actions are chosen, and left out where targets are computed. Confirm: look for it there.
    2. The mask of the next state is not stored. Confirm: print the keys of a batch.

    ## What to try first
    Store the mask of the next state, and take the largest value among the actions that it allows.

    ## When it is fine
    Forbidden actions do nothing, and are executed all the same now and then.

    ## References
    Huang & Ontañón 2022, *A Closer Look at Invalid Action Masking*.
    Seen in the wild: ACT-16 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT341"
    name: ClassVar[str] = "forbidden-action-believed"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("ACT300", "ACT340")

    audits: int = 3  # in which the network was asked before some steps, and not before others
    unasked: int = 2  # steps of an audit before which it was not
    passed: int = 15  # steps in which the best action was passed over
    share: float = 0.08  # of those before which it was asked
    above: float = 0.25  # by which the next best one is executed then more often than by chance
    exact: float = 0.99  # share of the targets that follow the largest value

    def check(self, evidence: Script) -> Iterator[Finding]:
        count = discrete(evidence)
        found = [
            each
            for each in steps_of(evidence)
            if each.module in valued(evidence) and each.output.shape[1] == count and (~each.asked).sum() >= self.unasked
        ]
        if count is None or count < 3 or len(found) < self.audits or sampled(evidence):
            raise NotEnough("no network of values was seen that is asked for some actions, of three or more")
        asked = passed = second = 0
        for each in found:
            agrees = each.agrees()
            other = agrees == 0
            asked += int(np.isfinite(agrees).sum())
            passed += int(other.sum())
            second += int((np.argsort(-each.output[other], axis=1)[:, 1] == each.executed[other, 0]).sum())
        if passed < self.passed or not self.share * asked <= passed < 0.8 * asked:
            return
        if second < (1 / (count - 1) + self.above) * passed:
            return
        for fit in fit_targets(evidence):
            if (
                fit.what != "q"
                or fit.mistake
                or fit.share < self.exact
                or not fit.name.startswith(("max of", "double"))
            ):
                continue
            yield self.finding(
                "actions that are passed over when acting are believed in the targets",
                where=fit.where,
                seen=f"the best action was passed over in {passed} of {asked} steps for which the network was asked, "
                f"for the next best in {second}; {fit.share:.0%} of {fit.rows} targets hold the largest value of all",
                expected="the largest value of the actions that are allowed in the next state",
                help="apply the mask of the next state before the maximum of the target is taken",
                confidence=0.85,
            )
            return
