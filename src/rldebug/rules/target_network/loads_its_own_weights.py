"""A network loads the weights that it has already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import same
from rldebug.syntax.names import argument, method, receiver
from rldebug.syntax.places import calls


@dataclass(frozen=True, kw_only=True)
class LoadsItsOwnWeights(Rule):
    """A network loads the weights that it has already.

    ## What it checks
    `x.load_state_dict(x.state_dict())`: the same network on both sides. Read from the source.

    ## Why it matters
    The line does nothing. A target network that is "updated" so stays what it was made as, and values are bootstrapped
    from random weights for good.

    ## Likely causes
    1. The wrong name on the right. Confirm: read the line.

    ## What to try first
    `target.load_state_dict(online.state_dict())`.

    ## When it is fine
    In a test of loading itself.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT620"
    name: ClassVar[str] = "loads-its-own-weights"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT001", "TGT005", "TGT300")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            if method(call) != "load_state_dict":
                continue
            given, owner = argument(call, 0, "state_dict"), receiver(call)
            if owner is None or given is None or method(given) != "state_dict":
                continue
            if same(receiver(given), owner):
                network = evidence.quoted(owner)
                yield self.finding(
                    f"{network} loads its own weights: the line does nothing",
                    where=evidence.at(call),
                    seen=evidence.quoted(call),
                    expected=f"the weights of another network on the right of {network}.load_state_dict(…)",
                    help=f"give {network}.load_state_dict() the state_dict() of the network that is trained",
                    confidence=0.97,
                )
