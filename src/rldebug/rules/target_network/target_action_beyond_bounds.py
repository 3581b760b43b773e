"""Critics are asked about actions in next states that nobody can take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_actions import asked_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetActionBeyondBounds(Rule):
    """Critics are asked about actions in next states that nobody can take.

    ## What it checks
    Actions that critics are asked about in next states are compared with all actions that the losses hold and with
    those that the policy itself gave: the policy stays within a range, and so does what is stored, but with the noise
    that is added for the target more than one row in fifty leaves it.

    ## Why it matters
    The critic never learned anything about such actions: what it says of them is made up, and enters every target.

    ## Likely causes
    1. The clamp to the bounds after the noise is missing. Confirm: read the line with the noise.
    2. The noise is not scaled to the action range, or its own clip is missing. Confirm: the same.

    ## What to try first
    `(target_policy(next_obs) + noise.clamp(-c, c)).clamp(low, high)`.

    ## When it is fine
    An environment that takes any action.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    """

    code: ClassVar[str] = "TGT373"
    name: ClassVar[str] = "target-action-beyond-bounds"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "noise"
    follows: ClassVar[tuple[str, ...]] = ("BUF370", "ACT372")

    rows: int = 256  # that must be there
    share: float = 0.005  # of them that show it; where actions are clamped none does
    shown: int = 16  # rows at least

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in asked_of(evidence) if each.policy is not None and np.isfinite(each.stored).all()]
        count = sum(len(each.action) for each in found)
        if count < self.rows or len({each.audit.number for each in found}) < 2:
            raise NotEnough(f"{count} target actions beside what the policy said, needs {self.rows}")
        asked = np.concatenate([each.action for each in found])
        said = np.concatenate([each.policy for each in found if each.policy is not None])
        stored = np.concatenate([each.stored for each in found])
        low, high = stored.min(axis=0), stored.max(axis=0)
        # A bound is where actions pile up, or where random ones end; what is stored must reach it on both sides.
        room = 0.02 * (high - low)
        if not ((high - low) > 0).all() or np.abs(low + high).max() > 0.1 * float((high - low).max()):
            return  # not the same way on both sides: then it is not known where the range ends
        piled = ((stored > high - room) | (stored < low + room)).mean(axis=0)
        if not (piled > 0.02).all() or (said > high + room).any() or (said < low - room).any():
            return
        beyond = ((asked > high + room) | (asked < low - room)).any(axis=1)
        if beyond.mean() > self.share and beyond.sum() >= self.shown:
            yield self.finding(
                "critics are asked about actions that nobody can take",
                where=found[0].term.where,
                seen=f"{beyond.sum()} of {len(asked)} target actions lie beyond all of {len(stored)} stored ones, "
                f"which end at {low.min():.3g} and {high.max():.3g}; the policy itself stays within",
                expected="target actions within the bounds",
                help="clamp the target action to the bounds after noise is added",
                confidence=0.88,
            )
