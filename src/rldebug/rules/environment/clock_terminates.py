"""Every episode terminates at the same step: a time limit in disguise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClockTerminates(Rule):
    """Every episode terminates at the same step: a time limit in disguise.

    ## What it checks
    All episodes of all players are equally long and end by `terminated`, and the time cannot be told from the
    observation.

    ## Why it matters
    `terminated` says that nothing is worth anything from here on. At a time limit that is false, and where the agent
    cannot see the clock, the same observation is worth much in one step and nothing in the next: the critic learns a
    mean.

    ## Likely causes
    1. A step counter sets `terminated`. Confirm: look for the counter in `step()`; it should set `truncated`.
    2. The end of the data is reported as `terminated`. Confirm: the episode has as many steps as there are rows.
    3. A wrapper written for the old interface merges both flags into one. Confirm: print both below the wrapper.

    ## What to try first
    Return the counter's verdict as `truncated`.

    ## When it is fine
    A game of so many moves. Show the agent how many are left, and this stays quiet.

    ## References
    Pardo et al., *Time Limits in Reinforcement Learning*.
    """

    code: ClassVar[str] = "ENV038"
    name: ClassVar[str] = "clock-terminates"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvPlay"

    episodes: int = 30  # of all players
    players: int = 3  # that played to an end
    visible: float = 0.5  # R² of the time from the observation

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        ended = [each for each in evidence.plays if each.episodes]
        if evidence.episodes < self.episodes or len(ended) < self.players:
            raise NotEnough(
                f"{evidence.episodes} episodes of {len(ended)} players, needs {self.episodes} of {self.players}"
            )
        lengths = set(evidence.lengths)
        if len(lengths) > 1 or lengths == {1} or any(each.truncated for each in ended):
            return
        if evidence.time_told != evidence.time_told:
            raise NotEnough("it is not known whether the observation tells the time")
        if evidence.time_told > self.visible or len({each.agent for each in ended}) < self.players:
            return
        (length,) = lengths
        yield self.finding(
            "every episode terminates at the same step",
            seen=f"{evidence.episodes} episodes of {len(ended)} players, all terminated after {length} steps; the "
            f"observation explains {evidence.time_told:.0%} of the time",
            expected="a time limit is reported as truncated; a fixed horizon is visible in the observation",
            help=f"what ends the episode after {length} steps should set truncated, not terminated",
            confidence=0.8,
        )
