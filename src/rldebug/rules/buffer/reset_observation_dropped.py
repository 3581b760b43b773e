"""Episodes begin with the last observation of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.final_rows import final_rows
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ResetObservationDropped(Rule):
    """Episodes begin with the last observation of the one before.

    ## What it checks
    Each row of a loss that has an action is traced back to its observation. Rows that are the final observation of an
    episode, from which no step was taken, are learned from; and first observations of episodes, from which steps were
    taken, are hardly ever among the rows. Observations that occurred more than once are left out. Exact.

    ## Why it matters
    The first action of every episode answers to a state that is gone, and is learned as if it had been taken there.

    ## Likely causes
    1. What `env.reset()` returns is not kept. Confirm: look at the line that resets at the end of an episode.
    2. `obs = next_obs` comes after the reset, and puts the old one back. Confirm: print the observation before the
       first action of an episode.

    ## What to try first
    `obs, _ = env.reset()`, after `obs = next_obs`.

    ## When it is fine
    Never. A wrapper whose reset returns the last observation once more makes both look alike: that is not judged.

    ## References
    Bug kind ENV-06 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF501"
    name: ClassVar[str] = "reset-observation-dropped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "restarted"
    follows: ClassVar[tuple[str, ...]] = (
        "BUF300",
        "BUF302",
        "ENV514",
    )  # rows that hold the wrong one throughout; it is not handed on

    ends: int = 8  # rows that are the end of an episode
    audits: int = 2  # in which there are such
    starts: float = 0.2  # rows that are the start of one, for each of those: the first episode has a true one

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = final_rows(evidence)
        if not seen.rows:
            raise NotEnough("no row of a loss with actions could be traced to an observation that occurred once")
        if seen.where is None or seen.ends < self.ends or seen.audits < self.audits:
            return
        if seen.starts > self.starts * seen.ends:
            return
        yield self.finding(
            "episodes begin with the last observation of the one before",
            where=seen.where,
            seen=f"{seen.ends} of {seen.rows} rows are final observations, from which no step was taken; {seen.starts} "
            "are first ones of episodes",
            expected="the observation that reset returned, in the first step of each episode",
            help="keep what env.reset() returns, and act on it",
            confidence=0.97,
        )
