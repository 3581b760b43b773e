"""The critic learns from actions far outside of what the actor can give it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.passes import actor_passes
from rldebug.forensics.target_actions import action_of
from rldebug.forensics.trained_actions import trained_actions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StoredActionBeyondActor(Rule):
    """The critic learns from actions that its actor cannot give.

    ## What it checks
    The actions beside the observations, in the loss of a critic and in that of the actor. The actor's lie between -1
    and 1 and come near to both: they are squashed. Those that the critic learns from are larger by half or more, in a
    fifth of the rows.

    ## Why it matters
    The critic is asked about numbers that mean another action than those it learned. The actor climbs values that have
    nothing to do with what it does.

    ## Likely causes
    1. The action is stretched to the bounds of the environment, and stored like that, while the actor's own goes to the
       critic as it is. Confirm: print the range of the actions in a batch and of those in the actor's loss.
    2. Random actions of the first steps are stored in the units of the environment, the actor's in its own. Confirm:
       print the range of the first stored actions and of the last.

    ## What to try first
    Store what the actor gives, and stretch it in the call of `step()` only.

    ## When it is fine
    Where actions are stored with noise of that size and the environment cuts them off, which teaches the critic little.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic*: actions are squashed, and the critic is given what the actor gives.
    """

    code: ClassVar[str] = "BUF260"
    name: ClassVar[str] = "stored-action-beyond-actor"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"
    follows: ClassVar[tuple[str, ...]] = ("ACT260",)

    rows: int = 256  # of each of the two
    near: float = 0.9  # that the actor's actions come to
    far: float = 1.5  # that stored ones exceed
    share: float = 0.2  # of them do

    def check(self, evidence: Script) -> Iterator[Finding]:
        batches = [each for each in trained_actions(evidence) if not each.discrete]
        given = [
            action
            for each in actor_passes(evidence)
            if each.critics
            and (action := action_of(each.audit.nodes, each.critics[0].output, each.audit.nodes.action.shape[1]))
            is not None
        ]
        if not batches or not given or len({each.action.shape[1] for each in batches}) > 1:
            raise NotEnough("no continuous actions were seen in the losses of an actor and of its critic")
        stored, asked = np.concatenate([each.action for each in batches]), np.concatenate(given)
        if min(len(stored), len(asked)) < self.rows or stored.shape[1] != asked.shape[1]:
            raise NotEnough(f"{len(stored)} rows of the critic and {len(asked)} of the actor, needs {self.rows}")
        for at in range(stored.shape[1]):
            mine, own = stored[:, at], asked[:, at]
            squashed = np.abs(own).max() <= 1.0 + 1e-5 and own.max() > self.near and own.min() < -self.near
            if not squashed or (np.abs(mine) > self.far).mean() < self.share:
                continue
            yield self.finding(
                "the critic learns from actions that the actor cannot give",
                where=batches[0].term.where,
                seen=f"actions of the critic's loss from {mine.min():.3g} to {mine.max():.3g}, "
                f"{(np.abs(mine) > self.far).mean():.0%} of {len(mine)} beyond {self.far:.3g}; those of the actor's "
                f"loss from {own.min():.3g} to {own.max():.3g}",
                expected="one unit for both",
                help="store the action as the actor gives it, before it is stretched to the environment's bounds",
                confidence=0.92,
            )
            return
