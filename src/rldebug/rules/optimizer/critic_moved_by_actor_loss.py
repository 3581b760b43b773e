"""The critic is stepped on the gradient of the actor's loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.forensics.updates import Update, cleared, held, updates_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CriticMovedByActorLoss(Rule):
    """The critic is stepped on the gradient of the actor's loss.

    ## What it checks
    In the DDPG, TD3 and SAC family the actor's loss is the critic's own output, and leaves gradients in the critic.
    They must be cleared before the critic steps. Here an optimizer that holds the critic steps after the actor's loss,
    and nothing has cleared the critic's gradients in between. Exact.

    ## Why it matters
    The critic learns to promise more for whatever the actor does, instead of what the rewards say.

    ## Likely causes
    1. The actor's optimizer was given the critic's parameters too. Confirm: read the line that makes it.
    2. Both losses run backward before the critic steps. Confirm: the order of `backward()`, `zero_grad()` and `step()`.

    ## What to try first
    `optim.Adam(actor.parameters())` for the actor; clear the critic's gradients just before the critic's own backward
    pass.

    ## When it is fine
    Never.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    Seen in the wild: OPT-12 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "OPT308"
    name: ClassVar[str] = "critic-moved-by-actor-loss"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "optimizer"

    times: int = 3  # steps after an actor's loss
    share: float = 0.8  # of the steps with an actor's loss before them

    def check(self, evidence: Script) -> Iterator[Finding]:
        # A trunk that values and actions share is moved by both losses, and meant to be.
        shared = {name for name, thing in evidence.modules.items() if thing.get("acting")}
        critics = (roles_of(evidence).critic | roles_of(evidence).q) - shared
        losses = [each for _, each in self._actor_losses(evidence, critics)]
        if len(losses) < self.times:
            raise NotEnough("no loss was seen that leads through a critic into an actor")
        orders = {id(each) for each in losses}
        for name, updates in updates_of(evidence).items():
            for critic in sorted(held(evidence, name) & critics):
                # Not every loss is looked into: a step with none of the actor's before it says nothing.
                able = [each for each in updates if any(id(loss) in orders for loss in each.of("loss"))]
                hit = [each for each in able if self._fed(evidence, each, critic, orders)]
                if len(hit) >= self.times and len(hit) >= self.share * len(able):
                    yield self.finding(
                        f"the actor's loss moves the critic {critic}",
                        where=hit[0].step.where,
                        seen=f"optimizer {name} holds {critic} and stepped {len(hit)} times on gradients of the "
                        "actor's loss, which leads through it",
                        expected="a critic that is stepped on the gradient of its own loss only",
                        help="give the actor's optimizer the actor alone, and clear the critic's gradients before its "
                        "own backward()",
                        confidence=0.95,
                    )
                    return

    def _actor_losses(self, script: Script, critics: frozenset[str]) -> Iterator[tuple[int, Event]]:
        """Losses through a critic, into a network that acts and is no critic itself."""
        for audit in script.audits:
            for loss, terms in audit.losses:
                if (
                    loss["how"] != "backward"
                    or loss.get("asked")
                    or any(each["kind"] == "regression" for each in terms)
                ):
                    continue
                reached = {name for each in terms if each["kind"] == "output" for name in each.get("reached") or ()}
                actors = {name for name in reached - critics if self._acts(script, name)}
                if actors and reached & critics:
                    yield audit.number, loss

    def _acts(self, script: Script, name: str) -> bool:
        """Whether it was seen to act; where nothing was, observations are changed on the way, and it may."""
        thing = script.modules.get(name, {})
        unseen = not any(each.get("acting") for each in script.modules.values())
        return bool(thing.get("acting") or (unseen and thing.get("owners")))

    def _fed(self, script: Script, update: Update, critic: str, losses: set[int]) -> bool:
        """Whether a gradient of an actor's loss was in the critic when it was stepped."""
        inside = clears = False
        for each in update.before:
            if each.kind == "zero":
                clears = True
                if critic in cleared(script, each):
                    inside = False
            elif each.kind == "loss" and id(each) in losses and critic in each["reached"]:
                inside = True
        grown = float((update.step.get("grad_norms") or {}).get(critic) or 0.0)
        return inside and clears and grown > 0.0
