"""An environment resets those within it, and hands on what the old episode ended with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.final_rows import final_rows
from rldebug.forensics.worlds import fact, name_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ResetNotHandedOn(Rule):
    """An automatic reset hands on the last observation, not the first.

    ## What it checks
    The `step` of an environment of the program's own resets the environments within it where an episode ends. What it
    hands on then is acted on, and learned from: it is the last observation of the episode that ended, from which no
    step was taken, and the first ones of episodes are hardly ever among the rows. Exact.

    ## Why it matters
    Whoever steps it cannot know better: the first action of every episode answers to a state that is gone. What is seen
    in the first step only, such as a cue, is never seen.

    ## Likely causes
    1. `env.reset()` stands by itself in that `step`; what it returns is not kept. Confirm: print what `step` returns
       where an episode ends, beside what `reset` returned.
    2. It is kept, and the old observation is put into the batch all the same. Confirm: the same.

    ## What to try first
    `obs = env.reset()` before the observation is put into the batch.

    ## When it is fine
    Never, where what was handed on is acted on.

    ## References
    Gymnasium, *Autoreset modes*: same-step hands on the first observation of the new episode.
    """

    code: ClassVar[str] = "ENV514"
    name: ClassVar[str] = "reset-not-handed-on"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    ends: int = 8  # rows that are the end of an episode
    audits: int = 2  # in which there are such
    starts: float = 0.2  # rows that are the start of one, for each of those
    share: float = 0.9  # of those rows that are of environments reset within a step

    def check(self, evidence: Script) -> Iterator[Finding]:
        within = {int(each["index"]): each for each in evidence.streams if fact(each, "reset_within")}
        if not within:
            raise NotEnough("no environment is reset within the step of another one")
        seen = final_rows(evidence)
        if seen.ends < self.ends or seen.audits < self.audits or seen.starts > self.starts * seen.ends:
            return
        if sum(count for stream, count in seen.streams.items() if stream in within) < self.share * seen.ends:
            return
        stream = within[max((each for each in seen.streams if each in within), key=lambda each: seen.streams[each])]
        owner, file, line = fact(stream, "reset_within")
        yield self.finding(
            "an environment resets those within it, and hands on what the old episode ended with",
            where=Where(file=str(file), line=int(line)),
            seen=f"{owner}.step() resets {name_of(stream)}; {seen.ends} of {seen.rows} rows that are learned from are "
            f"final observations, from which no step was taken, and {seen.starts} first ones of episodes",
            expected="the observation that reset returned",
            help="keep what reset() returns there, and hand it on in place of the old observation",
            confidence=0.97,
        )
