"""An actor gives actions that lie outside the space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.executed_noise import executed_by
from rldebug.forensics.passes import actor_passes
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActorGivesActionsOutside(Rule):
    """An actor gives actions that lie outside the space.

    ## What it checks
    An actor without randomness of its own learns through a critic, which is given what the actor says as it is; and
    that is executed, with noise, cut off at the bounds. A fifth and more of what it says lies beyond the bounds, by a
    twentieth of the range and more, in every stretch that was looked at.

    ## Why it matters
    The critic is asked about actions that cannot be taken, and what is taken is always the bound.

    ## Likely causes
    1. The offset of the space is missing: `tanh(x) * scale` where the bounds are not the same to both sides. Confirm:
       compare the actor's outputs with the bounds.
    2. The factor is that of another space, or the tanh is missing. Confirm: the same.

    ## What to try first
    `tanh(x) * (high - low) / 2 + (high + low) / 2`.

    ## When it is fine
    Hardly ever for such an actor.

    ## References
    Seen in the wild: ACT-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT372"
    name: ClassVar[str] = "actor-gives-actions-outside"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # never seen on a small program
    reads: ClassVar[str] = "Script"

    numbers: int = 256  # that must be there
    audits: int = 2  # in which it was seen
    share: float = 0.2  # of them that show it
    beyond: float = 0.05  # of the range

    def check(self, evidence: Script) -> Iterator[Finding]:
        plain = [each for each in executed_by(evidence) if each.way == "as it is" and each.sure and not each.drawn]
        if not plain or plain[0].low is None or plain[0].high is None:
            raise NotEnough("no actor whose output is the action was seen in a space with bounds")
        low, high, name = plain[0].low, plain[0].high, plain[0].module
        said: dict[int, list[np.ndarray]] = {}
        for each in actor_passes(evidence):
            for push in each.actor:
                if push.module == name and push.output.place == 0:
                    said.setdefault(each.audit.number, []).append(push.output.values)
        looks = [np.concatenate(each) for each in said.values()]
        if len(looks) < self.audits or sum(each.size for each in looks) < self.numbers:
            raise NotEnough(f"{sum(each.size for each in looks)} outputs of an actor, needs {self.numbers}")
        room = self.beyond * (high - low)
        shares = [float(((each < low - room) | (each > high + room)).any(axis=1).mean()) for each in looks]
        if min(shares) >= self.share:
            whole = np.concatenate(looks)
            yield self.finding(
                f"{name} gives actions outside the space",
                where=plain[0].where,
                seen=f"{max(shares):.0%} of its actions lie beyond the bounds {low.min():.3g} and {high.max():.3g}; "
                f"they go from {whole.min():.3g} to {whole.max():.3g}",
                expected="actions within the bounds",
                help="scale and shift the tanh to the bounds of the space",
                confidence=0.9,
            )
