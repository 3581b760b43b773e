"""The last observation of an episode has become the first of the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.starts import starts_of
from rldebug.forensics.worlds import name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FinalObservationOverwritten(Rule):
    """The last observation of an episode has become the first of the next.

    ## What it checks
    A vector environment that resets itself within the step hands over the last observation of an episode in the info.
    In nearly all episodes it equals, in every element, the first observation of the next one, though episodes begin in
    different states; and the last step of an episode leads farther than steps do. Exact.

    ## Why it matters
    Where an episode is cut off by a time limit, its last step is bootstrapped from that observation: from the beginning
    of another episode. Values near the limit are wrong, and no check of the environment by itself shows it.

    ## Likely causes
    1. The environment returns one array, and changes it in place: `reset()` writes over what the last `step()` gave.
       Confirm: `env.step(a)[0] is env.step(a)[0]` is true.
    2. A wrapper reuses one buffer. Confirm: ask the same of the environment below it.

    ## What to try first
    Return `obs.copy()` from `step()` and `reset()`; `rldebug env` shows which of them hands out its own array.

    ## When it is fine
    Where an episode is only a part of a longer game, such as one life, and the state goes on: the last step then leads
    no further than any other, and nothing is said.

    ## References
    BUF-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV352"
    name: ClassVar[str] = "final-observation-overwritten"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "environment"

    episodes: int = 6  # that follow another one
    equal: float = 0.9  # share of them
    different: int = 4  # first observations that were seen
    leap: float = 2.0  # how much farther the last step leads than the others do

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            if stream.get("autoreset") != "same-step":
                continue
            index = int(stream["index"])
            seen = [(each.obs, each.before) for each in starts_of(evidence, index) if each.before is not None]
            most = max(most, len(seen))
            if len(seen) < self.episodes or len({first.tobytes() for first, _ in seen}) < self.different:
                continue
            alike = sum(bool((first == last).all()) for first, last in seen)
            if alike < self.equal * len(seen) or not self._leaps(evidence, index):
                continue
            yield self.finding(
                "the last observation of an episode is overwritten by the first of the next",
                seen=f"in {alike} of {len(seen)} episodes of {name_of(stream)} the last observation handed over equals "
                "the first of the next episode, and the last step leads far",
                expected="the observation that the last step returned",
                help="return a copy from step() and reset(): obs.copy()",
                confidence=0.93,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} episodes with the last observation of the one before, needs {self.episodes}")

    def _leaps(self, script: Script, stream: int) -> bool:
        last, other = _sizes(script, stream)
        if len(last) < self.episodes or len(other) < self.episodes:
            return False
        return bool(np.median(last) > self.leap * np.median(other))


def _sizes(script: Script, stream: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far steps lead: those that end an episode, and all others."""
    last: list[NDArray[np.float64]] = []
    other: list[NDArray[np.float64]] = []
    for audit in script.audits:
        nodes = audit.nodes
        if not nodes.obs.shape[1]:
            continue
        places = np.flatnonzero((nodes.stream == stream) & nodes.acted & ~nodes.phantom)
        reached = nodes.index(nodes.nxt[places])
        places, reached = places[reached >= 0], reached[reached >= 0]
        far = np.abs(nodes.obs[reached].astype(np.float64) - nodes.obs[places]).sum(axis=1)
        ends = nodes.terminated[places] | nodes.truncated[places]
        last.append(far[ends & np.isfinite(far)])
        other.append(far[~ends & np.isfinite(far)])
    return (np.concatenate(last), np.concatenate(other)) if last else (np.empty(0), np.empty(0))
