"""Two target networks follow the same network, and its twin has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.batches import owned
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TwoTargetsFollowOne(Rule):
    """Two target networks follow the same network, and its twin has none.

    ## What it checks
    Weights of two networks that no optimizer holds move towards the same trained network, down to rounding, while a
    trained network of the same shape is followed by none. One of the two was a copy of that twin at first, where that
    was seen. Exact.

    ## Why it matters
    Both targets become one: the smaller of two estimates is then the only one, and the twin learns from another's
    values.

    ## Likely causes
    1. A line was copied, and one name in it was not changed. Confirm: read the lines that update the targets.

    ## What to try first
    `zip(critic_2.parameters(), critic_2_target.parameters())`.

    ## When it is fine
    Nothing that is known of.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    """

    code: ClassVar[str] = "TGT370"
    name: ClassVar[str] = "two-targets-follow-one"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "copies"

    moves: int = 3  # of each of them

    def check(self, evidence: Script) -> Iterator[Finding]:
        looks = {str(event["module"]): event for _, event in evidence.events("weights")}
        followed: dict[str, str] = {}
        for each in evidence.things.get("copy", {}).values():
            module, source = str(each["module"]), each.get("source")
            if not source or owned(evidence, module) or not owned(evidence, str(source)):
                continue
            during = [int(update) for update in each.get("updates") or () if int(update) > 0]
            if len(during) >= self.moves:
                if followed.get(module, source) != source:
                    return  # now this one, now that: it is chosen from several
                followed[module] = str(source)
        if len(followed) < 2:
            raise NotEnough("fewer than two target networks were seen to move")
        for source in set(followed.values()):
            targets = sorted(module for module, other in followed.items() if other == source)
            look = looks.get(source)
            alike = (look.get("distance") or {}) if look is not None else {}
            twins = [
                name
                for name in alike
                if name != source and owned(evidence, name) and name not in followed.values() and _asked(evidence, name)
            ]
            targets = [name for name in targets if name in alike and _asked(evidence, name)]
            if len(targets) >= 2 and twins:
                yield self.finding(
                    f"{targets[0]} and {targets[1]} both follow {source}",
                    where=_where(evidence, targets[1]),
                    seen=f"both move towards {source}; nothing follows {twins[0]}, which is trained too",
                    expected="a target network for each",
                    help=f"update {targets[0]} or {targets[1]} from {twins[0]}",
                    confidence=0.96,
                )
                return


def _asked(script: Script, name: str) -> bool:
    return bool(script.modules.get(name, {}).get("calls"))


def _where(script: Script, name: str) -> Where:
    for _, event in script.events("call"):
        if event["module"] == name and event.get("line"):
            return Where(file=str(event["line"][0]), line=int(event["line"][1]), update=event.update)
    return Where()
