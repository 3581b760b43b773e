"""When right and wrong change places, old data still decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, through_critic, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OldDataOutweighsNew(Rule):
    """When right and wrong change places, old data still decides.

    ## What it checks
    The best action is learned, then it becomes the worst: it was tried again often enough, and the algorithm does not
    change its mind.

    ## Why it matters
    Policies change what is seen, all the time: what was true of the old one must give way.

    ## Likely causes
    1. Old transitions are never replaced, or only those are sampled. Confirm: print the age of the rows of a
       minibatch.
    2. The learning rate, or exploration, has come to its end. Confirm: print both after the change.
    3. Priorities keep the old rows on top. Confirm: print the priorities of the oldest and newest rows.

    ## What to try first
    Print the age, in steps, of the oldest, newest and mean row of a minibatch.

    ## When it is fine
    Where a buffer is meant to hold all there ever was.

    ## References
    Fedus and others, *Revisiting fundamentals of experience replay*.
    """

    code: ClassVar[str] = "BUF016"
    name: ClassVar[str] = "old-data-outweighs-new"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["shifting-reward"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "when right and wrong change places, it does not change its mind",
            **shown(rung),
            help="print the age, in steps, of the oldest, newest and mean row of a minibatch",
            confidence=0.8 if through_critic(evidence) else 0.6,
        )
