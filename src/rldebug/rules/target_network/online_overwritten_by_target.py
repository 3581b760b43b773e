"""The trained network is overwritten with its target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.followers import Follower, followers
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OnlineOverwrittenByTarget(Rule):
    """The trained network is overwritten with its target.

    ## What it checks
    During training the weights of a target network, which itself never changes, are written into the network that an
    optimizer trains: by `load_state_dict`, or averaged into it in place. Several times; exact.

    ## Why it matters
    What was learned since the last copy is thrown away, and the target stays as it was made.

    ## Likely causes
    1. The two sides of the copy are swapped. Confirm: it must read `target.load_state_dict(online.state_dict())`.
    2. The arguments of a helper such as `soft_update(a, b)` are swapped. Confirm: look at which one it writes to.

    ## What to try first
    Swap source and destination of the copy.

    ## When it is fine
    Going back to kept weights on purpose, where those are also brought up to date, is not counted.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT301"
    name: ClassVar[str] = "online-overwritten-by-target"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "copies"

    times: int = 2  # during training

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = followers(evidence)
        if not found:
            raise NotEnough("no target network was seen")
        for each in found:
            if each.still and not each.copies and each.loaded <= each.own_loads:
                yield from self._backwards(evidence, each)

    def _backwards(self, script: Script, each: Follower) -> Iterator[Finding]:
        for thing in script.things.get("copy", {}).values():
            if thing.get("module") != each.online or thing.get("source") != each.target:
                continue
            at = [int(update) for update in thing.get("updates") or () if int(update) > 0]
            if len(at) < self.times:
                continue
            line = thing.get("line") or each.line
            yield self.finding(
                f"{each.online}, which is trained, is overwritten with the target network {each.target}",
                where=Where(file=line[0], line=line[1], update=at[0]) if line else Where(update=at[0]),
                seen=f"{thing.get('times')} times, first after {at[0]} steps; {each.target} itself never changes",
                expected=f"{each.target} follows {each.online}",
                help="swap source and destination: target.load_state_dict(online.state_dict())",
                confidence=0.96,
            )
            return
