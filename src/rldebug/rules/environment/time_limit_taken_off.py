"""The time limit that an environment is registered with is not in force, and episodes outlast it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TimeLimitTakenOff(Rule):
    """The registered time limit was taken off.

    ## What it checks
    The limit that the environment is registered with, beside what was played: no `TimeLimit` is around it, and episodes
    last longer than that. A warning where not one episode ended in ten times the limit, and nobody reset it; else a
    note.

    ## Why it matters
    Where nothing ends an episode, there is no return to learn from or to report, and the agent never gets back to where
    it began. Returns are not comparable with published ones.

    ## Likely causes
    1. `env.unwrapped` or `env.env` is trained in. Confirm: print the environment: there is no `TimeLimit`.
    2. The class is made directly instead of by `gymnasium.make`. Confirm: look at where it is made.

    ## What to try first
    Step what `gymnasium.make` returns, or put `TimeLimit` around it again.

    ## When it is fine
    A longer horizon is wanted, as is usual with MountainCar; or the loop counts steps and resets by itself.

    ## References
    CleanRL commit 9f1832ed.
    """

    code: ClassVar[str] = "ENV301"
    name: ClassVar[str] = "time-limit-taken-off"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"

    times: int = 10  # the limit, in steps of each lane without an end

    def check(self, evidence: Script) -> Iterator[Finding]:
        streams = [each for each in training_streams(evidence) if fact(each, "registered_limit")]
        if not streams:
            raise NotEnough("no environment that is trained in is registered with a time limit")
        for stream in streams:
            limit = int(fact(stream, "registered_limit"))
            if fact(stream, "time_limit") is not None:
                continue
            each_lane = int(stream["steps"]) / max(int(stream.get("lanes") or 1), 1)
            longest = max(stream.get("lengths") or (0,))
            endless = not stream.get("episodes") and int(stream["resets"]) <= 1 and each_lane > self.times * limit
            if not endless and longest <= limit:
                continue
            yield self.finding(
                "no episode ever ends: the registered time limit is not in force"
                if endless
                else "episodes outlast the registered time limit",
                seen=f"{each_lane:.0f} steps in {name_of(stream)} without an end or a reset; no wrapper limits the time"
                if endless
                else f"an episode of {longest} steps in {name_of(stream)}; no wrapper limits the time",
                expected=f"an end after {limit} steps, as registered",
                help="step what gymnasium.make returns, not env.unwrapped or env.env",
                confidence=0.85,
                severity="warning" if endless else None,
            )
            return
