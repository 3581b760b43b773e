"""The entropy is added to the loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyPenalised(Rule):
    """The entropy enters the loss with a plus.

    ## What it checks
    The sign of the entropy of the policy in the loss that also holds its policy gradient: a bonus is subtracted from
    what is minimised.

    ## Why it matters
    The policy is paid for being certain: it becomes deterministic before it has tried anything.

    ## Likely causes
    1. `loss = policy_loss + coefficient * entropy`. Confirm: read the line.
    2. The entropy is computed without its minus, as the sum of p log p. Confirm: the reported entropy is negative.

    ## What to try first
    `loss = policy_loss - coefficient * entropy`.

    ## When it is fine
    Entropies of networks that are not trained by a policy gradient in the same loss are not judged.

    ## References
    Williams and Peng, *Function Optimization Using Connectionist Reinforcement Learning Algorithms* (1991).
    """

    code: ClassVar[str] = "ENT300"
    name: ClassVar[str] = "entropy-penalised"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "joined"

    losses: int = 3  # with a policy gradient and an entropy whose sign is known

    def check(self, evidence: Script) -> Iterator[Finding]:
        signs, first = [], None
        for audit in evidence.audits:
            for _, terms in audit.losses:
                if not any(each["kind"] == "policy" for each in terms):
                    continue
                # The log of a deviation is an entropy, or a part of a divergence whose other parts were not told apart.
                part = any(each["kind"] == "other" and each["op"] != "divergence" for each in terms)
                for term in terms:
                    if term["kind"] != "entropy" or (term["op"] != "p-log-p" and (part or term["op"] == "sampled")):
                        continue
                    sign = _sign(term)
                    if sign:
                        signs.append(sign)
                        first = first if first is not None or sign < 0 else term
        if len(signs) < self.losses:
            raise NotEnough(f"{len(signs)} losses with a policy gradient and an entropy, needs {self.losses}")
        bad = sum(each > 0 for each in signs)
        if first is None or bad < 0.9 * len(signs):
            return
        yield self.finding(
            "the entropy is added to the loss: the policy is paid for being certain",
            where=first.where,
            seen=f"entropy with the factor {first['coefficient']:+.3g} in {bad} of {len(signs)} losses",
            expected="a negative factor",
            help="subtract the entropy bonus from the loss",
            confidence=0.95,
        )


def _sign(term: Event) -> float:
    """Of the entropy in the loss; 0 where rows differ in it."""
    weight = term.arrays.get("weight")
    sign = float(np.sign(term["coefficient"]))
    if weight is None:
        return sign
    if not len(weight) or (np.min(weight) < 0 < np.max(weight)):
        return 0.0
    return sign * float(np.sign(np.sum(weight)))
