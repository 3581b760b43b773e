"""The advantage is not detached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageCarriesGradient(Rule):
    """The weight of the log-probs carries a gradient.

    ## What it checks
    Whether the weight that multiplies the log-probs is data, or has a graph of its own that leads to weights which
    are trained.

    ## Why it matters
    The policy loss then trains the critic as well: it lowers the loss by moving the baseline, away from the returns
    that it should predict.

    ## Likely causes
    1. `advantage = returns - values` without `detach()`. Confirm: `advantage.requires_grad` is True.
    2. The values are computed again in the loss, with gradients, and used on both sides. Confirm: as before.

    ## What to try first
    `advantage = (returns - values).detach()`.

    ## When it is fine
    Returns that are differentiable on purpose, through a learned model, are not multiplied with log-probs; a policy
    that is differentiated through its sampled actions has no weight.

    ## References
    Mnih et al., *Asynchronous Methods for Deep Reinforcement Learning* (2016).
    """

    code: ClassVar[str] = "ADV300"
    name: ClassVar[str] = "advantage-carries-gradient"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "advantage"

    losses: int = 2  # with a weight on the log-probs; as many in which it carries a gradient

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = [
            (audit, term)
            for audit, term in evidence.terms("policy")
            if "weight" in (term.get("attached") or {})
            and not term["attached"].get("action")
            and {"index", "action"} & term.arrays.keys()  # of actions that were taken, not of all
        ]
        if len(judged) < self.losses:
            raise NotEnough(f"{len(judged)} policy losses with a weight, needs {self.losses}")
        found = [term for _, term in judged if term["attached"]["weight"]]
        if len(found) < self.losses or len(found) < 0.5 * len(judged):
            return
        leads = sorted(set((found[0].get("sides") or {}).get("weight") or ()))
        told = f", and leads to {', '.join(map(str, leads))}" if leads else ""
        yield self.finding(
            "the advantage is not detached: the policy loss trains what it is computed from",
            where=found[0].where,
            seen=f"the weight of the log-probs carries a gradient in {len(found)} of {len(judged)} losses{told}",
            expected="advantages that are data",
            help="detach the advantage before it is multiplied with the log-probs",
            confidence=0.95,
        )
