"""The critic's values stay exactly what they were at the start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, still
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CriticNeverMoves(Rule):
    """The critic's values stay exactly what they were at the start.

    ## What it checks
    On the first rung the value never changed by a millionth, while something else of the algorithm moved: weights, or
    a policy that was learned.

    ## Why it matters
    Without a critic, advantages are returns with noise, and every bootstrap is the number the network was born with.

    ## Likely causes
    1. The value loss carries no gradient: computed from values of the rollout, or behind `detach()` or `no_grad()`.
       Confirm: `value_loss.requires_grad` must be True.
    2. The critic's parameters are in no optimizer. Confirm: compare the optimizer's parameter groups with
       `critic.parameters()`.
    3. The targets are the old values: returns built from advantages that are still zero. Confirm: print target −
       value before the first epoch; it must not be 0 in every row.
    4. The weight of the value loss is 0. Confirm: print it.

    ## What to try first
    After one `backward()`, print the gradient norm of the critic's last layer.

    ## When it is fine
    Algorithms without a critic; these should not offer `value(obs)`.

    ## References
    Found in the wild where returns were added to a storage field that had not been filled yet.
    """

    code: ClassVar[str] = "VAL010"
    name: ClassVar[str] = "critic-never-moves"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = ("OPT010",)

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["constant-reward"]
        if rung.outcome != "failed" or not still(rung):
            return
        moved = [each.moved for each in rung.attempts if each.moved]
        others = [each for each in evidence.rungs if each.name != rung.name and each.attempts and not still(each)]
        if not moved and not others:
            return
        yield self.finding(
            "the critic's values never change",
            **shown(rung),
            help="after one backward(), print the gradient norm of the critic's last layer",
            confidence=0.85,
        )
