"""A copy of the trained network is kept up to date, and nothing is computed with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.followers import unasked
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetNeverAsked(Rule):
    """The target network is kept up to date and never used.

    ## What it checks
    A network that no optimizer owns is copied or averaged from a trained one, again and again at an even pace, and is
    never called; while the trained one itself is asked about the next states in its own update.

    ## Why it matters
    Targets are computed with the network that is being trained, and move with every step that is taken towards them.

    ## Likely causes
    1. The targets call the trained network where its copy was meant. Confirm: read the line that bootstraps.
    2. The copy is called in a branch that is never taken. Confirm: print there.

    ## What to try first
    Use the copy in the line that computes the targets.

    ## When it is fine
    An averaged copy that is only saved, or only evaluated after training.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT305"
    name: ClassVar[str] = "target-never-asked"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    moves: int = 4  # copies of the whole, at even distances
    small: int = 2  # moves towards the trained network that were seen one by one
    uneven: float = 0.1  # spread of the steps between copies, over their mean: the best weights are kept at odd times

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = unasked(evidence)
        if not found:
            raise NotEnough("no copy of a trained network was seen that is not called")
        roles = roles_of(evidence)
        # What a stochastic policy says of the next states is asked of the policy itself, as it should be.
        drawn = any(term["kind"] == "output" and term.get("op") == "logp" for _, term in evidence.events("term"))
        for each, call in found:
            if drawn and each.online in roles.policy:
                continue
            gaps = np.diff([at for at in each.loads if at > 0])
            even = len(gaps) >= self.moves and gaps.std() <= self.uneven * gaps.mean()
            if not even and len(each.taus) < self.small:
                continue
            line = call.get("line")
            how = f"copied {each.loaded} times" if even else f"moved by {np.median(each.taus):.2g} of the way at a time"
            yield self.finding(
                f"{each.target} follows {each.online} and is never used",
                where=Where(file=line[0], line=line[1], update=call.update) if line else Where(update=call.update),
                seen=f"{each.target} is {how} and not called once; {each.online} itself is asked about the next states",
                expected=f"targets that are computed with {each.target}",
                help="call the copy where the targets are computed",
                confidence=0.88,
            )
            return
