"""A reset leaves a part of the state as the episode before ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.starts import starts_of
from rldebug.forensics.worlds import name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ResetLeavesAPart(Rule):
    """A reset leaves a part of the state as the episode before ended.

    ## What it checks
    Observations that `reset()` returned, beside the last one of the episode before: some elements are drawn anew,
    others are equal in nearly all episodes, though they end with different values, and change within episodes. Exact.

    ## Why it matters
    How an episode begins depends on how the last one went. The agent is blamed for what it inherits, the same seed does
    not give the same episode, and starts that the task never has are learned from.

    ## Likely causes
    1. `reset()` does not set an attribute that `step()` changes: a speed, an angle, a stock. Confirm: list what
       `step()` assigns, and look for each in `reset()`.
    2. It is set in `__init__` only. Confirm: the same.

    ## What to try first
    Set everything that `step()` changes in `reset()`.

    ## When it is fine
    The element belongs to something that goes on beyond episodes, as a series of prices does.

    ## References
    Seen in the wild: ENV-02 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV310"
    name: ClassVar[str] = "reset-leaves-a-part"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "reset"
    follows: ClassVar[tuple[str, ...]] = ("ENV307", "ENV350")

    episodes: int = 8  # whose end and whose follower's start are known
    equal: float = 0.95  # share of resets
    different: int = 5  # values at the ends, none of which is
    common: float = 0.5  # of more than this share
    wide: float = 0.2  # of its range within episodes: that of the values at the ends, at least
    moves: float = 0.3  # share of steps that change the element

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            index = int(stream["index"])
            seen = [each for each in starts_of(evidence, index) if each.before is not None]
            most = max(most, len(seen))
            if len(seen) < self.episodes:
                continue
            begun = np.stack([each.obs for each in seen])
            ended = np.stack([each.before for each in seen if each.before is not None])
            kept = (begun == ended).mean(axis=0) >= self.equal
            counts = [np.unique(ended[:, each], return_counts=True)[1] for each in range(ended.shape[1])]
            kinds = np.array([len(each) for each in counts])
            common = np.array([each.max() / len(seen) for each in counts])
            varied = (kinds >= self.different) & (common <= self.common)
            # Running statistics move what is the same at each end of a day, and at each beginning.
            wide = np.ptp(ended, axis=0) >= self.wide * within(evidence, index, len(kept))
            told = kept & varied & wide & (moving(evidence, index, len(kept)) >= self.moves)
            anew = (begun == ended).mean(axis=0) < 1 - self.equal
            if not told.any() or not anew.any():
                continue
            which = ", ".join(map(str, np.flatnonzero(told)[:8].tolist()))
            yield self.finding(
                f"reset() of {name_of(stream)} leaves a part of the state as the episode before ended",
                seen=f"element {which} of the observation begins {len(seen)} episodes with the very value that the one "
                f"before ended with, {kinds[told].min()} different ones; others are drawn anew",
                expected="a start that does not depend on the episode before",
                help="in reset(), set everything that step() changes",
                confidence=0.82,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} resets after an episode whose end is known, needs {self.episodes}")


def within(script: Script, stream: int, width: int) -> np.ndarray:
    """The range of each element, over everything that was observed."""
    parts = [each.nodes for each in script.audits if each.nodes.obs.shape[1] == width]
    seen = [each.obs[(each.stream == stream) & np.isfinite(each.obs).all(axis=1)] for each in parts]
    rows = np.concatenate(seen) if seen else np.empty((0, width))
    return np.ptp(rows, axis=0) if len(rows) else np.zeros(width)


def moving(script: Script, stream: int, width: int) -> np.ndarray:
    """For each element, in which share of steps it changes."""
    changed, steps = np.zeros(width), 0
    for audit in script.audits:
        nodes = audit.nodes
        if nodes.obs.shape[1] != width:
            continue
        places = np.flatnonzero((nodes.stream == stream) & nodes.acted & ~nodes.phantom)
        reached = nodes.index(nodes.nxt[places])
        here, there = nodes.obs[places[reached >= 0]], nodes.obs[reached[reached >= 0]]
        known = ~(np.isnan(here).any(axis=1) | np.isnan(there).any(axis=1))
        changed += (here[known] != there[known]).sum(axis=0)
        steps += int(known.sum())
    return changed / max(steps, 1)
