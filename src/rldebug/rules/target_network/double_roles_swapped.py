"""In a double-Q target the target network chooses, and the trained network judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.followers import followers
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DoubleRolesSwapped(Rule):
    """In a double-Q target the two networks have swapped roles.

    ## What it checks
    The formula that the targets of Q-learning follow, found from their numbers: the reward plus what the trained
    network says of the action that the target network prefers. It is told from other ways of bootstrapping by the rows
    in which they differ.

    ## Why it matters
    The value in the target is that of the network that is being trained: it moves with every step, as if there were no
    target network.

    ## Likely causes
    1. The two networks were exchanged in the line that computes the targets. Confirm: the trained network gives the
       argmax, the target network the value.

    ## What to try first
    `target(next).gather(1, online(next).argmax(1, keepdim=True))`.

    ## When it is fine
    Two networks that are both trained and take turns, as in double Q-learning with tables, are not judged.

    ## References
    van Hasselt et al. 2015, *Deep Reinforcement Learning with Double Q-learning*.
    """

    code: ClassVar[str] = "TGT307"
    name: ClassVar[str] = "double-roles-swapped"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    audits: int = 2  # in which the formula holds
    share: float = 0.9  # of the rows that it explains

    def check(self, evidence: Script) -> Iterator[Finding]:
        pairs = {(each.online, each.target) for each in followers(evidence)}
        if not pairs:
            raise NotEnough("no target network was seen")
        swapped = {f"double {online} by {target}": (online, target) for online, target in pairs}
        for fit in fit_targets(evidence):
            if fit.what != "q" or fit.name not in swapped or fit.audits < self.audits or fit.share < self.share:
                continue
            online, target = swapped[fit.name]
            yield self.finding(
                f"{target} chooses the next action, and {online} says what it is worth",
                where=fit.where,
                seen=f"{fit.share:.0%} of {fit.rows} targets are the reward plus {fit.gamma:.3g} times what {online} "
                f"says of the best action by {target}",
                expected=f"the value by {target} of the best action by {online}",
                help="target(next).gather(1, online(next).argmax(1, keepdim=True))",
                confidence=0.92,
            )
            return
