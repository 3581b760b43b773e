"""A reset returns the last observation of the episode before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.starts import starts_of
from rldebug.forensics.worlds import name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ResetShowsOldState(Rule):
    """A reset returns what was seen last, not where the new episode begins.

    ## What it checks
    Observations that `reset()` returned, beside the last one of the episode before, which had terminated: equal in
    every element, in nearly all episodes, though episodes end in different states; and the first step then leads far
    from it, farther than steps do. Exact.

    ## Why it matters
    The first action of every episode is chosen for the wrong state, and the first transition that is learned leaps from
    a terminal state to a start.

    ## Likely causes
    1. `reset()` computes the observation before it sets the state back. Confirm: print the observation and the state.
    2. A wrapper keeps the last observation and returns it. Confirm: print below and above it.

    ## What to try first
    Compute the observation last, after everything was set back.

    ## When it is fine
    Where an episode is only a part of a longer game, such as one life, and the state goes on: the first step then leads
    no further than any other, and nothing is said.

    ## References
    Seen in the wild: ENV-02 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV307"
    name: ClassVar[str] = "reset-shows-old-state"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "reset"

    episodes: int = 6  # after one that terminated
    equal: float = 0.9  # share of resets
    different: int = 4  # last observations that were seen
    leap: float = 3.0  # how much farther the first step leads than the later ones do

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            seen = [
                (each, each.before)
                for each in starts_of(evidence, int(stream["index"]))
                if each.before is not None and each.terminated
            ]
            most = max(most, len(seen))
            if len(seen) < self.episodes or len({last.tobytes() for _, last in seen}) < self.different:
                continue
            alike = [each for each, last in seen if (each.obs == last).all()]
            if len(alike) < self.equal * len(seen) or not self._leaps(evidence, int(stream["index"])):
                continue
            yield self.finding(
                "a reset returns the last observation of the episode before",
                seen=f"{len(alike)} of {len(seen)} resets of {name_of(stream)} returned what the last step had "
                "returned, and the first step leads far from it",
                expected="the observation of the new episode",
                help="in reset(), compute the observation after the state was set back",
                confidence=0.93,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} resets after an episode that terminated, needs {self.episodes}")

    def _leaps(self, script: Script, stream: int) -> bool:
        first, later = step_sizes(script, stream)
        return (
            len(first) >= self.episodes
            and len(later) >= self.episodes
            and bool(median(first) > self.leap * median(later))
        )


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def step_sizes(script: Script, stream: int) -> tuple[list[float], list[float]]:
    """How far steps lead: those from a start, and all others."""
    first: list[float] = []
    later: list[float] = []
    for audit in script.audits:
        nodes = audit.nodes
        for place in ((nodes.stream == stream) & nodes.acted & ~nodes.phantom).nonzero()[0]:
            reached = int(nodes.index(nodes.nxt[place : place + 1])[0])
            if reached >= 0 and nodes.obs.shape[1]:
                far = float(abs(nodes.obs[reached] - nodes.obs[place]).sum())
                if far == far:  # else no longer remembered
                    (first if nodes.first[place] else later).append(far)
    return first, later
