"""The actor is trained towards actions that its critic values less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.discrete_actor import Weighed, weighed
from rldebug.forensics.passes import ActorPass, actor_passes, network_of
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActorSeeksLowValue(Rule):
    """The actor is trained towards actions that its critic values less.

    ## What it checks
    In the DDPG, TD3 and SAC family the actor learns through the critic: the loss has a gradient at what the critic said
    of the actor's actions. It must be negative there, so that a step of the optimizer raises the value. Here it is
    positive in nearly every row of every such pass. Exact, whatever form the loss is written in. Where a discrete actor
    learns from the values of all actions, its own gradient shows with which factor they enter.

    ## Why it matters
    The actor looks for the worst action, and finds it.

    ## Likely causes
    1. The minus of `-q.mean()` is missing, or there are two. Confirm: read the line of the actor's loss.
    2. `alpha * log_prob + q` in place of `alpha * log_prob - q`. Confirm: the same.

    ## What to try first
    `actor_loss = -critic(obs, actor(obs)).mean()`.

    ## When it is fine
    A critic of costs is to be made small. Where one is seen to learn negated rewards, nothing is said.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "POL370"
    name: ClassVar[str] = "actor-seeks-low-value"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    passes: int = 3  # backward passes that must be there
    share: float = 0.95  # of the rows of a pass, and of the passes

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = actor_passes(evidence)
        discrete = weighed(evidence)
        if len(found) < self.passes and len(discrete) < self.passes:
            raise NotEnough(f"{len(found)} passes through a critic into an actor, needs {self.passes}")
        if any((each.get("settings") or {}).get("maximize") for each in evidence.optimizers.values()):
            raise NotEnough("an optimizer climbs its loss")
        if any(each.what == "q" and each.reward < 0 for each in fit_targets(evidence)):
            raise NotEnough("the critic learns costs")
        if len(discrete) >= self.passes:
            yield from self._discrete(discrete)
            return
        raised = [_share(each, 1.0) >= self.share for each in found]
        # A critic of costs beside one of rewards: one of them is pushed down, the other up.
        if any(_share(each, -1.0) > 1.0 - self.share for each in found) or sum(raised) < self.share * len(found):
            return
        loss = next((each.loss for each in found if each.loss is not None), None)
        names = ", ".join(sorted({network_of(evidence, push.module) for push in found[0].critics}))
        yield self.finding(
            "the actor is trained towards low values of its critic",
            where=loss.where if loss is not None else Where(update=found[0].audit.update),
            seen=f"the loss grows with what {names} says of the actor's actions, in {len(found)} backward passes",
            expected="a loss that falls where the critic promises more",
            help="turn the sign of the critic's value in the actor's loss",
            confidence=0.96,
        )

    def _discrete(self, found: tuple[Weighed, ...]) -> Iterator[Finding]:
        if all(each.value > 0 for each in found):
            yield self.finding(
                "the actor is trained towards low values of its critic",
                where=Where(update=found[0].update),
                seen=f"the loss grows with {found[0].value:.3g} times the values of the likely actions ("
                f"{found[0].critics}), in {len(found)} backward passes",
                expected="a negative factor",
                help="turn the sign of the critic's value in the actor's loss",
                confidence=0.95,
            )


def _share(each: ActorPass, sign: float) -> float:
    """Of the rows: those in which some critic is pushed this way."""
    pushed = np.concatenate([sign * push.gradient.sum(axis=1) for push in each.critics])
    moved = pushed != 0
    return float((pushed[moved] > 0).mean()) if moved.any() else 0.0
