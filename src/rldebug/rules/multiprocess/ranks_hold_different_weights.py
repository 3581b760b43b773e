"""The ranks of a distributed training hold different weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ranks import ranks, together
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RanksHoldDifferentWeights(Rule):
    """The ranks of a distributed training hold different weights.

    ## What it checks
    Processes that joined one group are watched each. After the same number of updates the norms of their weights
    are compared: they differ, though the gradients that they step with are the same.

    ## Why it matters
    The averaged gradient belongs to none of the networks: each rank steps from other weights, and the one that is
    saved is only one of them.

    ## Likely causes
    1. The weights are not broadcast at the start. Confirm: compare the first weight on each rank before the first
       update.
    2. The step sizes differ, by a schedule that only one rank follows. Confirm: print the learning rate on each
       rank.

    ## What to try first
    Broadcast the weights of rank 0 before the first update, or wrap the network in DistributedDataParallel.

    ## When it is fine
    Processes that do not join a group train by themselves, and are not compared.

    ## References
    Bug kind MPR-02 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "MPR350"
    name: ClassVar[str] = "ranks-hold-different-weights"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("MPR351",)

    moments: int = 2  # at which weights are compared
    apart: float = 1e-5  # relative difference of their norms

    def check(self, evidence: Script) -> Iterator[Finding]:
        members = ranks(evidence)
        if len(members) < 2:
            raise NotEnough(f"{len(members)} processes of one group were watched, needs 2")
        compared = together(members, "weights")
        if len(compared) < self.moments:
            raise NotEnough(f"weights of two ranks after the same update {len(compared)} times, needs {self.moments}")
        differing = [each for each in compared if abs(each.one - each.other) > self.apart * max(abs(each.one), 1e-9)]
        if len(differing) < max(self.moments, 0.9 * len(compared)):
            return
        rates = [each for each in together(members, "rates") if each.one != each.other]
        first = differing[0]
        yield self.finding(
            "the ranks hold different weights" + (": their learning rates differ" if rates else ""),
            where=Where(update=first.update),
            seen=f"norms of {first.one:.6g} and {first.other:.6g} of `{first.name}` after {first.update} updates"
            + (f"; rates of {rates[0].one:.3g} and {rates[0].other:.3g}" if rates else ""),
            expected="the same weights on every rank",
            help="step the schedule on every rank"
            if rates
            else "broadcast the weights of rank 0 before the first update",
            confidence=0.95,
        )
