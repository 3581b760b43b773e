"""One rank stops its epochs early, and the others do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ranks import Member, called, ranks
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RanksUpdateUnevenly(Rule):
    """One rank stops its epochs early, and the others do not.

    ## What it checks
    For each rank, how many updates it takes between two rollouts. Most have the same number, some on one rank have
    fewer, and at those the other rank has all of them, though they reduce gradients together.

    ## Why it matters
    From then on the gradient of one rank's new rollout is averaged with that of the other's old one; in the end one
    rank waits for a partner that has gone.

    ## Likely causes
    1. The KL that ends the epochs early is that of the rank's own data. Confirm: print it on each rank.
    2. The ranks have different numbers of minibatches. Confirm: print the size of each rank's batch.

    ## What to try first
    Reduce the number that decides over all ranks, before it is compared.

    ## When it is fine
    Where ranks do not reduce gradients together; those are not judged.

    ## References
    Spinning Up's PPO averages the KL over processes before it stops.
    """

    code: ClassVar[str] = "MPR354"
    name: ClassVar[str] = "ranks-update-unevenly"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    explains: ClassVar[tuple[str, ...]] = ("MPR355", "MPR403")

    phases: int = 3  # that two ranks have both been through
    full: int = 3  # of those with the most updates there must be

    def check(self, evidence: Script) -> Iterator[Finding]:
        members = [each for each in ranks(evidence) if each.get("wrapped") or _reduces(each)]
        if len(members) < 2:
            raise NotEnough(f"{len(members)} processes that reduce gradients together were watched, needs 2")
        first = members[0]
        for other in members[1:]:
            one, two = _updates(first), _updates(other)
            length = min(len(one), len(two))
            if length < self.phases:
                raise NotEnough(f"{length} rollouts were learned from on two ranks, needs {self.phases}")
            one, two = one[:length], two[:length]
            most = max(*one, *two)
            uneven = [place for place in range(length) if one[place] != two[place]]
            short = [place for place in uneven if max(one[place], two[place]) == most]
            # Who plays in the midst of an update has two short ones for one long: those are no fewer in all.
            if not short or (one + two).count(most) < self.full or _split(first, other):
                continue
            place = short[0]
            yield self.finding(
                "the ranks take different numbers of updates from one rollout",
                where=Where(update=int(first["phases"][place])),
                seen=f"{one[place]} updates on {called(first)} and {two[place]} on {called(other)}, "
                f"of rollout {place + 1}; uneven in {len(uneven)} of {length}",
                expected="the same number on every rank",
                help="reduce what decides when to stop (the KL) over all ranks before it is compared",
                confidence=0.9,
            )
            return


def _reduces(member: Member) -> bool:
    return 2 * int(member.get("calls") or 0) >= int(member.get("updates") or 0)


def _updates(member: Member) -> list[int]:
    """Of each phase but the last, which may have been cut off."""
    begun: Sequence[int] = member.get("phases") or ()
    return [after - before for before, after in pairwise(begun)]


def _split(one: Member, other: Member) -> bool:
    """Whether one only has more boundaries than the other."""
    a, b = (list(each.get("phases") or ()) for each in (one, other))
    until = min(a[-1], b[-1])
    a, b = [each for each in a if each <= until], [each for each in b if each <= until]
    return set(a) <= set(b) or set(b) <= set(a)
