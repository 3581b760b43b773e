"""Advantages of tokens are normalised answer by answer, or place by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_critic import normalised_by, told
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantagesOfPiecesNormalised(Rule):
    """Advantages of tokens are normalised answer by answer, or place by place.

    ## What it checks
    In the first batch after sequences were written, what the critic is told of each token (return minus value) and what
    the policy is told (advantage) differ by a normalisation. Here there is one for each answer, or one for each place:
    exact within each of them, and not over all.

    ## Why it matters
    Every answer is as good as any other on average: that one of them has earned more is lost, and tokens of a good
    answer are made less likely.

    ## Likely causes
    1. Mean and spread are taken along one axis: `adv.mean(1)`, `adv.mean(0)`. Confirm: look for the axis.
    2. Each sequence is normalised before all are put together. Confirm: look for a loop over sequences.

    ## What to try first
    Take mean and spread over all written tokens of the batch.

    ## When it is fine
    With one reward for each answer and several answers to each prompt, the answers are compared within the prompt; such
    programs have no critic and are not judged.

    ## References
    Bug kind ADV-08 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV379"
    name: ClassVar[str] = "advantages-of-pieces-normalised"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rounds: int = 2  # with a critic that learns from the same tokens

    def check(self, evidence: Script) -> Iterator[Finding]:
        known = [(each, normalised_by(each)) for each in told(evidence)]
        if len(known) < self.rounds:
            raise NotEnough(
                f"{len(known)} rounds in which policy and critic learn the same tokens, needs {self.rounds}"
            )
        wrong = [each for each in known if each[1]]
        if len(wrong) < max(self.rounds, 0.8 * len(known)):
            return
        each, by = wrong[0]
        yield self.finding(
            f"the advantages of tokens are normalised {by} by {by}",
            where=each.policy.call.where,
            seen=f"return minus value, moved and scaled in each {by} by its own numbers, in {len(wrong)} rounds",
            expected="one mean and one spread for all written tokens of the batch",
            help="take mean and spread over all written tokens",
            confidence=0.92,
        )
