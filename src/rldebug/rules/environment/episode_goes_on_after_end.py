"""An episode that has terminated goes on, with rewards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpisodeGoesOnAfterEnd(Rule):
    """An episode that has terminated goes on, with rewards.

    ## What it checks
    `step()` is called once more after `terminated`. It neither raises nor says again that the episode is over, and
    gives a reward above 0.

    ## Why it matters
    A loop that forgets to reset does not notice: it goes on playing, and learns from what comes after the end.

    ## Likely causes
    1. `terminated` is computed from the last event rather than from the state. Confirm: step twice after the end and
       print the flags.
    2. The environment resets itself at the end. Confirm: compare the observation after the end with that of a reset.

    ## What to try first
    Keep a flag that the episode is over, and raise in `step()` while it is set.

    ## When it is fine
    Gymnasium leaves what happens after the end undefined: a loop that resets is not touched by it.

    ## References
    Gymnasium, *Make your own custom environment*.
    """

    code: ClassVar[str] = "ENV020"
    name: ClassVar[str] = "episode-goes-on-after-end"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvContract"

    ends: int = 2  # that were stepped over

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        after = evidence.after_end
        if after is None:
            raise NotEnough("no episode terminated")
        if after.tried < self.ends or after.rewarded < after.tried:
            return
        yield self.finding(
            "step() goes on after the episode has terminated",
            where=evidence.where,
            seen=f"{after.rewarded} of {after.tried} ended episodes went on with a reward above 0",
            expected="an exception, or terminated again without a reward",
            help="raise in step() once the episode is over, until reset()",
            confidence=0.8,
        )
