"""Two critics are bit by bit the same network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.batches import owned
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TwinCriticsIdentical(Rule):
    """Two critics are bit by bit the same network.

    ## What it checks
    Two networks, each trained by a regression of its own, have the same weights at every look, to the last bit, while
    both move.

    ## Why it matters
    Two critics are there because they err differently; the smaller of two equal estimates is no smaller.

    ## Likely causes
    1. The second is made as a copy of the first, or from the same seed. Confirm: compare their weights at the start.

    ## What to try first
    Build each critic by itself, without loading the weights of the other.

    ## When it is fine
    Never, where both learn.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    """

    code: ClassVar[str] = "VAL301"
    name: ClassVar[str] = "twin-critics-identical"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    looks: int = 3  # at their weights

    def check(self, evidence: Script) -> Iterator[Finding]:
        learned: set[str] = set()
        for _, term in evidence.terms("regression"):
            learned |= set(term.get("reached") or ())
        looks: dict[str, dict[int, Event]] = {}
        for audit, event in evidence.events("weights"):
            if event["module"] in learned and owned(evidence, str(event["module"])):
                looks.setdefault(str(event["module"]), {})[audit.number] = event
        if len(looks) < 2:
            raise NotEnough("no two networks that learn by regression were seen")
        names = sorted(looks)
        for at, one in enumerate(names):
            for two in names[at + 1 :]:
                both = sorted(set(looks[one]) & set(looks[two]))
                mine = [looks[one][each] for each in both]
                if len(both) < self.looks or any((each.get("distance") or {}).get(two) != 0 for each in mine):
                    continue
                if len({each["fingerprint"] for each in mine}) < self.looks:
                    continue
                yield self.finding(
                    f"the critics {one} and {two} are the same network",
                    where=Where(update=mine[-1].update),
                    seen=f"equal to the last bit at {len(both)} looks, while both are trained",
                    expected="two critics that begin apart",
                    help="build each critic by itself, without loading the weights of the other",
                    confidence=0.95,
                )
                return
