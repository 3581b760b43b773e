"""The mask of padded episodes leaves out their last steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.padded_episodes import padded_terms
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LastStepsMaskedOut(Rule):
    """The mask of padded episodes leaves out their last steps.

    ## What it checks
    Losses over whole episodes that lie side by side and were filled up to one length: which rows the mask leaves out.
    Besides the filler it is the last step of nearly every episode, and hardly another.

    ## Why it matters
    In most tasks the last step pays what matters: the goal, the fall. What led there is never learned.

    ## Likely causes
    1. The mask is made of `length - 1`, as where the last row holds the observation after the end only. Confirm: sum
       the mask of one episode, and compare with the number of its rewards.
    2. The mask is `1 - done`, which is 0 in the last step. It should be 0 in what follows that step. Confirm: print
       both for one episode.

    ## What to try first
    Let the mask be 1 wherever an action was taken.

    ## When it is fine
    Where the last row is no step.

    ## References
    Bug kind ADV-11 of bench/bugs/sources.toml is the opposite: filler that counts.
    """

    code: ClassVar[str] = "BUF372"
    name: ClassVar[str] = "last-steps-masked-out"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    episodes: int = 12  # that were seen whole
    share: float = 0.9  # of the episodes whose last step is left out
    others: float = 0.05  # of the other steps that may be

    def check(self, evidence: Script) -> Iterator[Finding]:
        last = left = others = taken = 0
        example: Event | None = None
        for audit in evidence.audits:
            for call, term in padded_terms(audit):
                mask = term.arrays.get("mask")
                if term["kind"] not in ("policy", "regression") or mask is None or np.size(mask) != call.count:
                    continue
                out, within = np.ravel(mask) == 0, ~call.filler & ~call.last
                last += int(call.last.sum())
                left += int((out & call.last).sum())
                taken += int(within.sum())
                others += int((out & within).sum())
                example = example or term
        if example is None or last < self.episodes:
            raise NotEnough(f"{last} whole episodes in masked losses, needs {self.episodes}")
        if left < self.share * last or others > self.others * taken:
            return
        yield self.finding(
            "the mask leaves out the last step of every episode",
            where=example.where,
            seen=f"the mask is 0 at {left} of {last} last steps, and at {others} of {taken} others",
            expected="0 in the filler after an episode only",
            help="make the mask as long as the episode has rewards: its last step counts",
            confidence=0.93,
        )
