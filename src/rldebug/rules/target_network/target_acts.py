"""The target network chooses the actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.batches import acting
from rldebug.forensics.followers import followers
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetActs(Rule):
    """The target network chooses the actions.

    ## What it checks
    Which network of values is asked about the observations that the program acts on. It is the one that targets are
    computed with, a copy that follows from afar; the one that learns is never asked.

    ## Why it matters
    What was learned since the last copy is not tried out, so the mistakes in it are not met, and not corrected. With
    slow copies the agent learns as if it were that much younger.

    ## Likely causes
    1. The wrong one of two names in the function that picks actions. Confirm: read it.
    2. The two networks were swapped where they are handed over. Confirm: print `is` for both.

    ## What to try first
    Act with the network that the optimizer holds.

    ## When it is fine
    Copies are made every few updates: it hardly matters then.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*, algorithm 1.
    """

    code: ClassVar[str] = "TGT308"
    name: ClassVar[str] = "target-acts"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    rows: int = 24  # that were acted on
    audits: int = 3  # in which they were
    apart: float = 1e-4  # relative distance of the two networks at some time, for it to matter

    def check(self, evidence: Script) -> Iterator[Finding]:
        roles = roles_of(evidence)
        found = [each for each in followers(evidence) if each.online in roles.q and each.online not in roles.policy]
        if not found or roles.policy:
            raise NotEnough("no target network of values was seen, without a policy beside it")
        asked: Counter[str] = Counter()
        audits: dict[str, set[int]] = {}
        calls: dict[str, Event] = {}
        for call in acting(evidence):
            asked[call.module] += len(call.rows)
            audits.setdefault(call.module, set()).add(call.audit.number)
            calls.setdefault(call.module, call.event)
        for each in found:
            if asked[each.target] < self.rows or len(audits[each.target]) < self.audits or asked[each.online]:
                continue
            if max(each.distance, default=0.0) < self.apart:
                continue
            line = calls[each.target].get("line")
            yield self.finding(
                f"{each.target}, which targets are computed with, chooses the actions",
                where=Where(file=line[0], line=line[1]) if line else Where(),
                seen=f"{each.target} was asked about {asked[each.target]} observations that were acted on, "
                f"{each.online} about none",
                expected=f"{each.online}, the network that learns",
                help=f"choose actions with {each.online}",
                confidence=0.88,
            )
            return
