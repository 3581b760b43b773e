"""The actor learns through the target network of the critic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.batches import around, owned
from rldebug.forensics.passes import actor_passes
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActorAsksTargetCritic(Rule):
    """The actor learns through the target network of the critic.

    ## What it checks
    The actor's loss leads through a critic that no optimizer owns and that is copied from a trained one of the same
    shape, and through no critic that is trained. Exact.

    ## Why it matters
    The target network lags behind: the actor follows what the critic thought hundreds of updates ago.

    ## Likely causes
    1. `critic_target` is written where `critic` belongs. Confirm: read the line of the actor's loss.

    ## What to try first
    Ask the trained critic in the actor's loss; the target network is for the critic's targets.

    ## When it is fine
    A few methods do it on purpose; then ignore this rule.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "POL372"
    name: ClassVar[str] = "actor-asks-target-critic"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    passes: int = 4  # backward passes that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = actor_passes(evidence)
        if len(found) < self.passes:
            raise NotEnough(f"{len(found)} passes through a critic into an actor, needs {self.passes}")
        asked = {push.module for each in found for push in each.critics}
        copied = {
            str(each["module"])
            for each in evidence.things.get("copy", {}).values()
            if each.get("source") and owned(evidence, str(each["source"]))
        }
        if all(around(evidence, name) & copied and not owned(evidence, name) for name in asked):
            loss = next((each.loss for each in found if each.loss is not None), None)
            yield self.finding(
                "the actor learns through the target network of the critic",
                where=loss.where if loss is not None else Where(update=found[0].audit.update),
                seen=f"{', '.join(sorted(asked))}, which no optimizer holds, in {len(found)} backward passes",
                expected="the critic that is trained",
                help="ask the trained critic about the actor's actions",
                confidence=0.9,
            )
