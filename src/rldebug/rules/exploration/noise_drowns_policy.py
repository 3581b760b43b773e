"""Noise is so large that the executed actions are the bounds."""

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
class NoiseDrownsPolicy(Rule):
    """Noise is so large that the executed actions are the bounds.

    ## What it checks
    What the actor says lies between the bounds, and yet most of the executed actions are cut off at one of them, and on
    the side that has little to do with what the actor said.

    ## Why it matters
    The environment sees a coin toss between full force one way and the other; the actor is not heard.

    ## Likely causes
    1. The scale of the noise: a range in place of a share of it, or a variance in place of a deviation. Confirm: print
       it beside the action.
    2. The noise grows, as a process with the wrong sign does. Confirm: the same.

    ## What to try first
    A deviation of a tenth of the action's half range.

    ## When it is fine
    Bang-bang control on purpose.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    """

    code: ClassVar[str] = "EXP373"
    name: ClassVar[str] = "noise-drowns-policy"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 32  # that must be there
    audits: int = 2  # in which it was seen
    cut: float = 0.5  # share of executed elements at a bound

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = 0
        for each in executed_by(evidence):
            if each.drawn or not each.sure or "cut off" in each.way:
                continue
            judged = max(judged, len(each))
            if len(each) < self.steps or len(np.unique(each.audit)) < self.audits:
                continue
            low, high = each.action.min(axis=0), each.action.max(axis=0)
            half = (high - low) / 2
            if not (half > 0).all():
                continue
            edge = (each.action <= low + 1e-6 * half) | (each.action >= high - 1e-6 * half)
            inside = np.abs(each.said - (low + high) / 2) < 0.8 * half
            pushed = edge & inside
            sides = ((each.action > (low + high) / 2) & pushed).sum(axis=0) / np.maximum(pushed.sum(axis=0), 1)
            if pushed.mean() >= self.cut and ((sides > 0.15) & (sides < 0.85)).all():
                yield self.finding(
                    "noise drives most of the executed actions to their bounds",
                    where=each.where,
                    seen=f"{pushed.mean():.0%} of {pushed.size} executed elements are at a bound while the actor is "
                    "not near it",
                    expected="noise of about a tenth of the range",
                    help="scale the noise to the range of the action",
                    confidence=0.88,
                )
                return
        if judged < self.steps:
            raise NotEnough(f"{judged} steps of an actor, needs {self.steps}")
