"""The actor's outputs are stuck at their bounds, and no gradient passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.passes import actor_passes
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActorSaturated(Rule):
    """The actor's outputs are stuck at their bounds, and no gradient passes.

    ## What it checks
    An actor that learns through a critic gives the largest or the smallest action, equal to five digits, in nearly
    every row, from the first backward passes that were seen to the last.

    ## Why it matters
    The slope of a tanh is zero there: whatever the critic says, the actor does not move.

    ## Likely causes
    1. Weights of the last layer, or the inputs, are far too large. Confirm: print what goes into the tanh.
    2. Steps that are too large have driven it there. Confirm: the learning rate.

    ## What to try first
    A small initialisation of the last layer, and inputs of about size one.

    ## When it is fine
    Problems in which full force is always right; then nothing has to be learned any more.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*, section 7.
    """

    code: ClassVar[str] = "NET350"
    name: ClassVar[str] = "actor-saturated"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("OPT351", "OPT004", "POL370", "NRM302")

    passes: int = 4  # backward passes that must be there
    share: float = 0.98  # of them that show it
    early: int = 60  # optimizer steps, before which it must be so already

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [
            (each, push)
            for each in actor_passes(evidence)
            for push in each.actor
            if push.output.place == 0 and push.output.values.shape[1] == each.audit.nodes.action.shape[1]
        ]
        if len(found) < self.passes:
            raise NotEnough(f"{len(found)} passes through a critic into an actor, needs {self.passes}")
        stuck = []
        for _, push in found:
            size = np.abs(push.output.values)
            top = size.max(axis=0)
            stuck.append(bool((top > 0.3).all() and (size > top * (1 - 1e-5)).mean() >= self.share))
        if all(stuck) and min(push.output.update for _, push in found) <= self.early:
            name = found[0][1].module
            line = evidence.modules.get(name, {}).get("line")
            yield self.finding(
                f"{name} gives nothing but its largest and smallest actions",
                where=Where(file=line[0], line=line[1]) if line else Where(),
                seen=f"outputs of size {np.abs(found[0][1].output.values).max():.4g} in nearly every row of "
                f"{len(found)} backward passes",
                expected="outputs between the bounds",
                help="initialise the last layer small, and bring the inputs to about size one",
                confidence=0.88,
            )
