"""The optimizer is given the target network too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.copies import between, copies
from rldebug.syntax.mentions import in_setup
from rldebug.syntax.optimised import key, optimised


@dataclass(frozen=True, kw_only=True)
class TargetHandedToOptimizer(Rule):
    """The optimizer is given the target network too.

    ## What it checks
    A network that follows another by a soft update stands in an optimizer, beside the one it follows. Read from the
    source.

    ## Why it matters
    Weight decay and any gradient that reaches the target move it: it learns by itself where it should only follow, and
    both sides of the loss meet half way.

    ## Likely causes
    1. The parameters of all networks were gathered into one list. Confirm: read what the optimizer is given.

    ## What to try first
    Hand over only the networks that learn, and set `requires_grad_(False)` on the target.

    ## When it is fine
    Where the network is meant to learn and to be pulled towards another one.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT627"
    name: ClassVar[str] = "target-handed-to-optimizer"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT003", "TGT004")

    def check(self, evidence: Source) -> Iterator[Finding]:
        learning = {key(evidence, each) for _, networks in optimised(evidence) for each in networks}
        followers = {
            (key(evidence, into), key(evidence, origin))
            for copy in copies(evidence)
            if copy.blend is not None and not in_setup(evidence, copy.node)
            for into, origin in between(evidence, copy)
        }
        for call, networks in optimised(evidence):
            for network in networks:
                name = key(evidence, network)
                leader = next((other for into, other in followers if into == name and other != name), None)
                if not name or leader not in learning or (leader, name) in followers:
                    continue
                slow = evidence.quoted(network)
                yield self.finding(
                    f"{slow} follows {leader.rpartition(':')[2]} by a soft update and is in the optimizer as well",
                    where=evidence.at(network),
                    seen=evidence.quoted(call),
                    expected=f"{slow} is in no optimizer",
                    help=f"take {slow}.parameters() out of the optimizer",
                    confidence=0.9,
                )
