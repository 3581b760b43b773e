"""Stored actions are in other units than the actor's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.executed_noise import executed_by, given_as_said
from rldebug.forensics.trained_actions import trained_actions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StoredActionInOtherUnits(Rule):
    """Stored actions are in other units than the actor's.

    ## What it checks
    What the critic's loss holds as action is the executed one times a factor, plus an offset, down to rounding. In the
    actor's loss the critic is given what the actor says, as it is; and that is what is executed, but for noise. So the
    critic learns about actions in one unit and is asked about them in another.

    ## Why it matters
    The critic answers for another action than the one that is meant: the actor follows values of the wrong actions.

    ## Likely causes
    1. Actions are scaled to [-1, 1] for the buffer, and the critic is asked with actions in the environment's units.
       Confirm: print the range of both.

    ## What to try first
    One unit for all: store what is given to `step`, or have actor and critic work in [-1, 1] and scale for `step` only.

    ## When it is fine
    Nothing that is known of.

    ## References
    Seen in the wild: BUF-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF370"
    name: ClassVar[str] = "stored-action-in-other-units"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "rows"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # never seen on a small program
    reads: ClassVar[str] = "Script"

    rows: int = 64  # that must be there
    steps: int = 24  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        batches = [each for each in trained_actions(evidence) if not each.discrete]
        stored = [each.action for each in batches]
        done = [each.executed for each in batches]
        if not stored or len({each.shape[1] for each in stored}) != 1:
            raise NotEnough("no continuous actions of a critic's loss were traced to steps")
        mine, theirs = np.concatenate(stored), np.concatenate(done)
        keep = np.isfinite(theirs).all(axis=1)
        mine, theirs = mine[keep], theirs[keep]
        plain = [each for each in executed_by(evidence) if each.way == "as it is" and not each.drawn]
        plain = [each for each in plain if given_as_said(evidence, each.module)]
        if len(mine) < self.rows or not plain or len(plain[0]) < self.steps:
            raise NotEnough(f"{len(mine)} rows of a critic's loss traced to steps of an actor, needs {self.rows}")
        acted = plain[0]
        for at in range(mine.shape[1]):
            if np.ptp(theirs[:, at]) == 0:
                continue
            slope, shift = np.polyfit(theirs[:, at], mine[:, at], 1)
            off = np.abs(mine[:, at] - slope * theirs[:, at] - shift)
            if np.quantile(off, 0.95) > 1e-4 * np.ptp(mine[:, at]) or abs(np.log(abs(slope) + 1e-12)) < 0.1:
                continue
            as_executed = np.abs(acted.action[:, at] - acted.said[:, at])
            as_stored = np.abs(slope * acted.action[:, at] + shift - acted.said[:, at])
            if np.median(as_executed) < 0.4 * np.median(as_stored):
                yield self.finding(
                    "stored actions are in other units than those the actor gives to the critic",
                    where=batches[0].term.where,
                    seen=f"stored: {slope:.3g} times the executed action, plus {shift:.3g}, in {len(mine)} rows; the "
                    "actor's own go to the critic, and into the environment, as they are",
                    expected="one unit for both",
                    help="store the action as it is given to step(), or scale what the critic is given",
                    confidence=0.93,
                )
                return
