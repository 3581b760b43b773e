"""The policy has become sure, and its answers are all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations, mean
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnswersGrowAlike(Rule):
    """The policy has become sure, and its answers are all the same.

    ## What it checks
    The entropy of the policy over the tokens that it learns from, at the beginning and at the end; and how many
    different answers a group holds at the end.

    ## Why it matters
    A policy that writes one answer explores no more: groups are tied, and what it has missed it will not find.

    ## Likely causes
    1. Nothing keeps the entropy up: no divergence from a reference, clipping that favours what is likely. Confirm:
       raise `beta` or `epsilon_high`.
    2. The entropy is punished where it should be rewarded: a sign. Confirm: look at the coefficient.
    3. Steps are too large. Confirm: see OPT510.

    ## What to try first
    Lower the learning rate; `epsilon_high=0.28`; look at the sign of the entropy term.

    ## When it is fine
    At the end of a training on a task that has one answer.

    ## References
    DAPO, section 3.1 (clip-higher); rlprobe's ENTROPY_COLLAPSE.
    """

    code: ClassVar[str] = "ENT510"
    name: ClassVar[str] = "answers-grow-alike"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = (
        "OPT510",
        "ACT510",
    )

    left: float = 0.1  # of the entropy at the beginning
    alike: float = 0.5  # different answers in a late group, as a share
    passes: int = 8  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        entropy = np.array([mean(each.column("entropy")) for each in evidence.passes])
        entropy = entropy[np.isfinite(entropy)]
        if len(entropy) < self.passes:
            raise NotEnough(f"the entropy in {len(entropy)} passes, needs {self.passes}")
        before, after = (
            float(entropy[: max(1, len(entropy) // 8)].mean()),
            float(entropy[-max(1, len(entropy) // 4) :].mean()),
        )
        late = evidence.rounds[-max(1, len(evidence.rounds) // 4) :]
        shares = [
            (len(set(each.column("answer")[rows])) - 1) / max(1, evidence.size - 1)
            for each in late
            for rows in each.groups(evidence.size)
        ]
        if not shares or before <= 0 or after > self.left * before or np.mean(shares) > self.alike:
            return
        yield self.finding(
            "the policy has become sure, and its answers are all the same",
            seen=f"entropy from {before:.3g} to {after:.2g} nats a token; {np.mean(shares):.0%} of the "
            "answers of late groups differ",
            expected="answers that still differ",
            help="lower the learning rate, raise beta or epsilon_high, look at the sign of the entropy term",
            confidence=0.8,
        )
