"""A temperature is learned, and the actor's loss has no entropy in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.passes import actor_passes
from rldebug.forensics.temperature import temperatures
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyLeftOutOfActor(Rule):
    """A temperature is learned, and the actor's loss has no entropy in it.

    ## What it checks
    A temperature is learned from the log-probs of the policy, as in SAC. The losses through which the actor learns from
    its critic hold nothing but the critic: no log-prob and no entropy.

    ## Why it matters
    Nothing keeps the policy random: it collapses to one action, while the temperature grows and grows.

    ## Likely causes
    1. `alpha * log_prob` is missing from the actor's loss. Confirm: read the line.

    ## What to try first
    `(alpha * log_prob - q).mean()`.

    ## When it is fine
    Nothing that is known of.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    """

    code: ClassVar[str] = "ENT364"
    name: ClassVar[str] = "entropy-left-out-of-actor"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"
    follows: ClassVar[tuple[str, ...]] = ("POL373",)

    losses: int = 4  # that must be there
    steps: int = 8  # of the temperature

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not any(each.steps >= self.steps for each in temperatures(evidence)):
            raise NotEnough("no temperature was seen to be learned")
        losses = [(each, each.loss) for each in actor_passes(evidence) if each.loss is not None]
        terms = {id(loss): own for audit in evidence.audits for loss, own in audit.losses}
        found = [(loss, terms[id(loss)]) for _, loss in losses if loss is not None and terms.get(id(loss))]
        if len(found) < self.losses:
            raise NotEnough(f"{len(found)} losses of an actor were looked into, needs {self.losses}")
        plain = [
            loss
            for loss, own in found
            if all(
                each["kind"] == "output" and each.get("op") in ("mean", "sum") and not each.get("cut") for each in own
            )
        ]
        if len(plain) == len(found):
            yield self.finding(
                "the actor's loss has no entropy in it, though a temperature is learned",
                where=plain[0].where,
                seen=f"{len(plain)} losses of the actor that are the critic's value alone",
                expected="the critic's value and the log-prob, weighted with the temperature",
                help="add alpha * log_prob to the actor's loss",
                confidence=0.9,
            )
