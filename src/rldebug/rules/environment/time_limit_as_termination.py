"""Episodes that run out of time are said to terminate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TimeLimitAsTermination(Rule):
    """Episodes that run out of time are said to terminate.

    ## What it checks
    Episodes of random actions that end at different times by themselves, while all of those that last longest end at
    exactly the same step, by `terminated`. Quiet where an element of the observation tells the time.

    ## Why it matters
    `terminated` says that nothing comes after: the value of the last state becomes its reward. States that are good for
    ever look as if they were worth nothing, at a time that the agent cannot see.

    ## Likely causes
    1. A step counter of the environment sets `terminated`. Confirm: look for the counter in `step()`; it should set
       `truncated`.
    2. A wrapper joins both flags, as gym did before 0.26. Confirm: print both flags below the wrapper.
    3. The data ends there: a price series, a track. Confirm: the limit is the length of the data.

    ## What to try first
    Report the counter as `truncated`, or leave it to `gymnasium.wrappers.TimeLimit`.

    ## When it is fine
    The task really ends then, and the agent can see how much time is left.

    ## References
    Pardo et al., *Time Limits in Reinforcement Learning*.
    """

    code: ClassVar[str] = "ENV023"
    name: ClassVar[str] = "time-limit-as-termination"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    episodes: int = 20  # that ended
    ends: int = 5  # at the limit, and before it
    shortest: int = 10  # steps; short episodes tie by chance
    spike: float = 4.0  # times as many ends in the last step as in each of those before it
    special: float = 0.2  # share of ends at the limit whose reward is out of the usual range

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        ended = evidence.endings
        if len(ended) < self.episodes:
            raise NotEnough(f"{len(ended)} episodes, needs {self.episodes}")
        limit = max(each.length for each in ended)
        at_limit = [each for each in ended if each.length == limit]
        shorter = [each for each in ended if each.length < limit and each.terminated]
        if any(each.truncated or not each.terminated for each in at_limit) or evidence.longest > limit:
            return
        if limit < self.shortest or len(at_limit) < self.ends or len(shorter) < self.ends or evidence.clock:
            return
        if evidence.clock is None:
            raise NotEnough("whether the observation tells the time is not known")
        # A goal that is reached then, and not the clock, would be rewarded as nothing before it.
        if sum(each.special for each in at_limit) > self.special * len(at_limit):
            return
        window = max(5, limit // 5)
        before = sum(each.length >= limit - window for each in shorter) / window
        if len(at_limit) < self.spike * (before + 1):
            return
        yield self.finding(
            "a time limit is reported as terminated",
            where=evidence.where,
            seen=f"{len(at_limit)} of {len(ended)} episodes terminate at exactly step {limit}, none later; "
            f"the others end between step {min(each.length for each in shorter)} and "
            f"{max(each.length for each in shorter)}",
            expected="truncated, where time is what ended the episode",
            help="set truncated, not terminated, when the step counter runs out",
            confidence=0.8,
        )
