"""The critic's answer does not reach the actor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.passes import ActorPass, beside_actors, network_of, passes_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CriticCutOffFromActor(Rule):
    """The critic's answer does not reach the actor.

    ## What it checks
    A loss holds the mean of what a critic says, and trains the actor besides; but what the critic was given carries no
    gradient: the action was drawn without one, was detached, or is that of the replay buffer. Exact.

    ## Why it matters
    The actor learns from the entropy alone, or from nothing: it never hears which actions are good.

    ## Likely causes
    1. `dist.sample()` in place of `dist.rsample()`. Confirm: read the line that draws the action.
    2. The critic is given the actions of the batch. Confirm: read the line of the actor's loss.
    3. `.detach()` or `torch.no_grad()` around the action. Confirm: the same.

    ## What to try first
    `critic(obs, dist.rsample())`, with no detach in between.

    ## When it is fine
    Never.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    """

    code: ClassVar[str] = "POL373"
    name: ClassVar[str] = "critic-cut-off-from-actor"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "sampled"

    passes: int = 4  # backward passes that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        # A critic of states and actions, that learns from errors in passes of its own.
        acting = {name for name, thing in evidence.modules.items() if thing.get("acting")}
        alone = [each for each in passes_of(evidence) if not each.modules & acting]
        learned = {
            network_of(evidence, push.module) for each in alone for push in each.pushes if not _judged(push.gradient)
        }
        found = [each for each in beside_actors(evidence) if _known(each) and _takes_actions(each) and _mean(each)]
        found = [each for each in found if {network_of(evidence, push.module) for push in each.critics} <= learned]
        if len(found) < self.passes:
            raise NotEnough(f"{len(found)} passes through a critic into an actor, needs {self.passes}")
        if not all(_cut(each) for each in found):
            return
        loss = next((each.loss for each in found if each.loss is not None), None)
        names = ", ".join(sorted({network_of(evidence, push.module) for push in found[0].critics}))
        yield self.finding(
            "the actor's loss asks the critic, and the answer does not reach the actor",
            where=loss.where if loss is not None else Where(update=found[0].audit.update),
            seen=f"what {names} is given in the actor's loss carries no gradient, in {len(found)} backward passes",
            expected="the actor's own action, with its graph",
            help="draw the action with rsample(), and give the critic that action without detach()",
            confidence=0.96,
        )


def _known(each: ActorPass) -> bool:
    return all("attached" in one for push in each.critics for one in push.output.event.get("inputs") or [{}])


def _cut(each: ActorPass) -> bool:
    return not any(one["attached"] for push in each.critics for one in push.output.event["inputs"])


def _judged(gradient: np.ndarray) -> bool:
    """A mean of the values: the same push for every row, or none."""
    moved = gradient[gradient != 0]
    return bool(len(moved) == 0 or np.ptp(moved) <= 1e-4 * np.abs(moved).max())


def _mean(each: ActorPass) -> bool:
    return all(_judged(push.gradient) for push in each.critics)


def _takes_actions(each: ActorPass) -> bool:
    """Its input is more than what the actor is given."""
    wide = [push.output.given.shape[1] for push in each.actor if push.output.given is not None]
    return all(
        push.output.more or (push.output.given is not None and wide and push.output.given.shape[1] > max(wide))
        for push in each.critics
    )
