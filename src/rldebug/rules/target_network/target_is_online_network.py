"""The target network is the trained network itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.followers import self_bootstrapped
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetIsOnlineNetwork(Rule):
    """The target network is the trained network itself.

    ## What it checks
    A network is loaded with its own weights, again and again during training: two names for one object. And it is what
    its own targets are computed with. Exact.

    ## Why it matters
    Targets move with every step that is taken towards them; the copy that should hold still does not exist.

    ## Likely causes
    1. `target = online` makes a second name, no second network. Confirm: `target is online`.
    2. Both were built by a helper that returns one shared network. Confirm: the same.

    ## What to try first
    `target = copy.deepcopy(online)`.

    ## When it is fine
    Never: a network need not be loaded with what it holds.

    ## References
    datawhalechina/easy-rl issue 140. Mnih et al. 2015, *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT304"
    name: ClassVar[str] = "target-is-online-network"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "alias"

    times: int = 2  # during training

    def check(self, evidence: Script) -> Iterator[Finding]:
        own = {
            str(thing["module"]): thing
            for thing in evidence.things.get("copy", {}).values()
            if thing.get("source") == thing.get("module") and thing.get("how") == "load_state_dict"
        }
        if not own:
            raise NotEnough("no network was loaded with its own weights")
        for name, call in self_bootstrapped(evidence):
            thing = own.get(name)
            at = [int(update) for update in (thing or {}).get("updates") or () if int(update) > 0]
            if thing is None or len(at) < self.times:
                continue
            line = thing.get("line") or call.get("line")
            yield self.finding(
                f"the target network is {name} itself",
                where=Where(file=line[0], line=line[1], update=at[0]) if line else Where(update=at[0]),
                seen=f"loaded with its own weights {thing.get('times')} times, and asked for its own targets",
                expected="a second network that is a copy of it",
                help="make the target a copy.deepcopy of the trained network",
                confidence=0.96,
            )
            return
