"""Every episode but the first ends with its first step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.worlds import training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LaterEpisodesEndAtOnce(Rule):
    """Every episode but the first ends with its first step.

    ## What it checks
    The lengths of the episodes of an environment that is learned from. An early one lasted for several steps; all
    later ones lasted a single one.

    ## Why it matters
    There is nothing to learn from episodes of one step. What counts time, or tells that it is over, is not set back
    by `reset`.

    ## Likely causes
    1. A clock that is set in the constructor and not in `reset`: the time limit is reached for good. Confirm: print
       it after a reset.
    2. A flag that says it is over stays set. Confirm: the same.

    ## What to try first
    Set everything that `step` changes in `reset`, the clock included.

    ## When it is fine
    Where one decision is an episode all are of one step from the first on, and nothing is said.

    ## References
    Bug kind ENV-02 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV350"
    name: ClassVar[str] = "later-episodes-end-at-once"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "reset"

    episodes: int = 30  # of one step each, up to the last
    steps: int = 5  # more than there were episodes: an earlier one was longer

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            lengths = [int(each) for each in stream.get("lengths") or ()]
            late = lengths[-max(self.episodes, len(lengths) // 2) :]
            most = max(most, len(late))
            count, steps = int(stream.get("episodes") or len(lengths)), int(stream.get("steps") or 0)
            if len(late) < self.episodes or max(late) > 1 or steps - count < self.steps * int(stream.get("lanes") or 1):
                continue
            yield self.finding(
                "every episode but the first ends with its first step",
                where=Where(),
                seen=f"{len(late)} episodes of one step each; {count} episodes and {steps} steps in all",
                expected="episodes as long as the first",
                help="set back in reset what step counts or sets: the clock, and what says that it is over",
                confidence=0.95,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} episodes of an environment that is learned from, needs {self.episodes}")
