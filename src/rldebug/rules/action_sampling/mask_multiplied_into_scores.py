"""Scores of forbidden actions are set to 0 before the softmax, by a mask that they are multiplied with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MaskMultipliedIntoScores(Rule):
    """A mask is multiplied into the scores: forbidden actions stay possible.

    ## What it checks
    What the softmax of a policy loss is taken of: whether that is a product with a mask of zeros and ones. Read off the
    backward graph.

    ## Why it matters
    A score of 0 is no probability of 0. Forbidden actions are as likely as any action with a score of 0, and likelier
    than allowed ones with a negative score.

    ## Likely causes
    1. `Categorical(logits=logits * mask)`, or `(logits * mask).softmax(-1)`. Confirm: print the probabilities of a
       step in which an action is forbidden.

    ## What to try first
    `logits.masked_fill(~mask, -1e9)`.

    ## When it is fine
    Never, where the mask says which actions are allowed.

    ## References
    Huang and Ontañón, *A Closer Look at Invalid Action Masking in Policy Gradient Algorithms* (2022).
    """

    code: ClassVar[str] = "ACT328"
    name: ClassVar[str] = "mask-multiplied-into-scores"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scores"

    losses: int = 3  # of a policy, with such a product
    share: float = 0.5  # of the losses; in the others nothing may have been forbidden

    def check(self, evidence: Script) -> Iterator[Finding]:
        losses = [term for _, term in evidence.terms("policy") if "zeroed" in term.detail]
        if len(losses) < self.losses:
            raise NotEnough(f"{len(losses)} policy losses, needs {self.losses}")
        zeroed = [term for term in losses if term["zeroed"]]
        if len(zeroed) < max(self.losses, self.share * len(losses)):
            return
        yield self.finding(
            "a mask is multiplied into the scores before the softmax",
            where=zeroed[0].where,
            seen=f"scores times zeros and ones in {len(zeroed)} of {len(losses)} policy losses",
            expected="a large negative number in place of the scores that do not count",
            help="use logits.masked_fill(~mask, -1e9)",
            confidence=0.93,
        )
