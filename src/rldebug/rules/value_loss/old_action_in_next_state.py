"""The next state is valued with the action of the state before."""

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
class OldActionInNextState(Rule):
    """The next state is valued with the action of the state before.

    ## What it checks
    For the targets, critics are asked about the states that steps led to. The action beside each such state is compared
    with the one that the loss holds for the step itself. Here they are the same in nearly every row. Exact.

    ## Why it matters
    The value of the next state is that of an action which nobody would take there: the critic learns what repeating an
    action is worth, and the policy is not part of it.

    ## Likely causes
    1. `critic_target(next_obs, action)` in place of `critic_target(next_obs, policy(next_obs))`. Confirm: read the
       line.

    ## What to try first
    Ask the policy, or its target network, for the action in the next state.

    ## When it is fine
    An environment in which actions last for several steps.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "VAL392"
    name: ClassVar[str] = "old-action-in-next-state"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    rows: int = 64  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = same = 0
        first = None
        for each in asked_of(evidence):
            keep = each.known & np.isfinite(each.stored).all(axis=1)
            off = np.abs(each.action - each.stored)[keep]
            if len(np.unique(np.round(each.stored[keep], 6), axis=0)) < 0.5 * keep.sum():
                continue  # hardly any two actions differ
            judged += int(keep.sum())
            same += int((off <= 1e-6 * (1 + np.abs(each.stored[keep]))).all(axis=1).sum())
            first = first or each.term
        if judged < self.rows or first is None:
            raise NotEnough(f"{judged} questions about next states whose action was seen, needs {self.rows}")
        if same >= 0.95 * judged:
            yield self.finding(
                "the critic is asked about the next state with the action of the state before",
                where=first.where,
                seen=f"the action of the step itself beside the state it led to, in {same} of {judged} rows",
                expected="the action that the policy takes in that state",
                help="ask the policy for the action in the next state",
                confidence=0.95,
            )
