"""A single update changes what the policy says beyond recognition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PolicyThrownFar(Rule):
    """A single update changes what the policy says beyond recognition.

    ## What it checks
    The same answers are scored before and after an update, in evaluation mode: the divergence between the two, in
    nats a token.

    ## Why it matters
    Answers that a policy wrote say little about another one. After such a step the advantages are about a policy that
    is no more.

    ## Likely causes
    1. The learning rate is too large: 1e-6 … 1e-5 is common for whole models, 1e-5 … 1e-4 for adapters. Confirm:
       divide it by ten.
    2. Gradients are not clipped, or not averaged over accumulated batches. Confirm: look at the norm of the gradient.
    3. The reward is huge and is not scaled. Confirm: look at the advantages.

    ## What to try first
    Divide the learning rate by ten.

    ## When it is fine
    The first updates of a network that knows nothing.

    ## References
    PPO, arXiv 1707.06347 (trust region); rldoctor's kl_drift.
    """

    code: ClassVar[str] = "OPT510"
    name: ClassVar[str] = "policy-thrown-far"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"

    nats: float = 1.0  # a token, by one update
    times: int = 2  # that it happened

    def check(self, evidence: Generations) -> Iterator[Finding]:
        moved = [
            (each, float(each.facts["moved"]) / int(each.facts["moved_updates"]))
            for each in evidence.rounds
            if isinstance(each.facts.get("moved"), (int, float)) and int(each.facts.get("moved_updates", 0)) > 0
        ]
        if len(moved) < self.times:
            raise NotEnough(f"{len(moved)} updates were measured, needs {self.times}")
        far = [(each, by) for each, by in moved if by > self.nats]
        if len(far) < self.times:
            return
        yield self.finding(
            "a single update changes what the policy says beyond recognition",
            where=Where(update=far[0][0].update),
            seen=f"{len(far)} of {len(moved)} updates moved it by more than {self.nats:g} nats a token, up "
            f"to {max(by for _, by in far):.3g}",
            expected="far less than 0.1 nats a token",
            help="divide the learning rate by ten; it is " + f"{evidence.settings.get('learning_rate', 'not known')}",
            confidence=0.85,
        )
