"""The ranks of a distributed training hold different weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ranks import Member, ranks, together, weights_apart
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RanksHoldDifferentWeights(Rule):
    """The ranks of a distributed training hold different weights.

    ## What it checks
    Processes that joined one group are watched each. After the same number of updates their weights are compared, by
    norm and by some of their numbers: they differ, though the gradients that they step with are the same.

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
    steps: int = 4  # before which numbers of them are compared
    apart: float = 1e-5  # relative difference

    def check(self, evidence: Script) -> Iterator[Finding]:
        members = ranks(evidence)
        if len(members) < 2:
            raise NotEnough(f"{len(members)} processes of one group were watched, needs 2")
        compared = together(members, "weights")
        sampled, apart = weights_apart(members, self.apart)
        if sampled >= self.steps:
            yield from self._number_by_number(members, sampled, apart)
            return
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

    def _number_by_number(
        self, members: Sequence[Member], compared: int, apart: Sequence[tuple[str, int]]
    ) -> Iterator[Finding]:
        if len(apart) < 0.5 * compared:
            return
        name, step = apart[0]
        rates = [each for each in together(members, "rates") if each.one != each.other]
        sent = any(each.get("before_updates") or each.get("wrapped") for each in members)
        begun = step == 0 and not rates
        why = ": their learning rates differ" if rates else ": nobody sent them round" if begun and not sent else ""
        yield self.finding(
            f"the ranks hold different weights{why}",
            where=Where(update=step),
            seen=f"numbers of the weights of `{name}` differ before {len(apart)} of {compared} steps, "
            + ("from the first on" if step == 0 else f"first before step {step + 1}")
            + (f"; rates of {rates[0].one:.3g} and {rates[0].other:.3g}" if rates else ""),
            expected="the same weights on every rank",
            help="step the schedule on every rank"
            if rates
            else "broadcast the weights of rank 0 before the first update, or seed torch alike on all ranks until then"
            if begun
            else "look for what changes weights on one rank alone: a copy, a reset, a step that others skip",
            confidence=0.95,
        )
