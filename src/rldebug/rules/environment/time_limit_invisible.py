"""Only the time limit ends episodes, and the agent cannot see the time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TimeLimitInvisible(Rule):
    """Only the time limit ends episodes, and the agent cannot see the time.

    ## What it checks
    Every episode of every player was cut off after the same number of steps, none terminated, and the time cannot be
    told from the observation.

    ## Why it matters
    An algorithm that takes the cut for an end learns that the value of a state falls to zero at a moment it cannot
    see. That is right only if the value of the last state is bootstrapped.

    ## Likely causes
    1. The task goes on for ever, and the limit only cuts it into pieces. Confirm: your update bootstraps from the last
       observation where `truncated` is set.
    2. There is a terminal condition that nobody came upon. Confirm: put the environment into a state that should end
       it.

    ## What to try first
    Bootstrap at `truncated`, or add the share of the time that is left to the observation.

    ## When it is fine
    The update tells `truncated` from `terminated`, as all common libraries do.

    ## References
    Pardo et al., *Time Limits in Reinforcement Learning*.
    """

    code: ClassVar[str] = "ENV039"
    name: ClassVar[str] = "time-limit-invisible"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"

    episodes: int = 10  # of all players
    visible: float = 0.5  # R² of the time from the observation

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.episodes < self.episodes or evidence.time_told != evidence.time_told:
            raise NotEnough(f"{evidence.episodes} episodes, needs {self.episodes} and observations over time")
        if any(each.terminated for each in evidence.plays) or len(set(evidence.lengths)) > 1:
            return
        if evidence.time_told > self.visible:
            return
        yield self.finding(
            "only the time limit ends episodes, and it cannot be seen",
            seen=f"{evidence.episodes} episodes, all truncated after {evidence.lengths[0]} steps; the observation "
            f"explains {evidence.time_told:.0%} of the time",
            expected="nothing else, as long as the update bootstraps at truncated",
            help="bootstrap from the last observation where truncated is set, or show the agent the time",
            confidence=0.8,
        )
