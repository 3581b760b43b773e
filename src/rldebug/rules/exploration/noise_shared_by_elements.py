"""All elements of an action get the same noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.executed_noise import executed_by
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NoiseSharedByElements(Rule):
    """All elements of an action get the same noise.

    ## What it checks
    The executed action differs from what the actor said by noise. Here the difference is the same number in all
    elements of the action, in nearly every step that no bound cuts off. Exact.

    ## Why it matters
    Only one direction of all actions is ever tried.

    ## Likely causes
    1. One number is drawn: `np.random.normal(0, sigma)` without `size`. Confirm: print the noise.

    ## What to try first
    `np.random.normal(0, sigma, size=action.shape)`.

    ## When it is fine
    Nothing that is known of.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "EXP371"
    name: ClassVar[str] = "noise-shared-by-elements"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 24  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in executed_by(evidence) if each.action.shape[1] >= 2 and not each.drawn and each.sure]
        judged = 0
        for each in found:
            keep = each.free.all(axis=1) & (np.abs(each.noise).max(axis=1) > 1e-4)
            judged = max(judged, int(keep.sum()))
            if keep.sum() < self.steps:
                continue
            noise = each.noise[keep]
            same = np.ptp(noise, axis=1) <= 1e-4 * (1 + np.abs(noise).max(axis=1))
            if same.mean() > 0.95 and np.ptp(noise[:, 0]) > 1e-3:
                yield self.finding(
                    "all elements of an action get the same noise",
                    where=each.where,
                    seen=f"one number for all {noise.shape[1]} elements in {int(same.sum())} of {len(noise)} steps",
                    expected="noise of its own for each element",
                    help="draw the noise in the shape of the action",
                    confidence=0.94,
                )
                return
        if judged < self.steps:
            raise NotEnough(f"{judged} steps with noise that no bound cuts off, needs {self.steps}")
