"""At a time limit the bootstrap is from the next episode's first observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.bootstraps import Pair, by_prediction, without_gradient
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TruncationLeadsIntoNextEpisode(Rule):
    """Truncated steps are bootstrapped from another episode.

    ## What it checks
    Rows of a Q-regression whose step was truncated are followed to the observation that their target is bootstrapped
    from. It is one of a later episode: the observation of the reset, or one after it. Counted only where it matters:
    the target is not the bare reward, or steps that truly ended are bootstrapped from their own final observation.

    ## Why it matters
    The value before a time limit becomes that of a fresh start. What the agent did before the limit has no say in it.

    ## Likely causes
    1. A vector environment resets by itself, and the observation it returns is the new one. Confirm: look for
       `final_obs` (`terminal_observation` in Stable-Baselines3) in the code that stores the step.
    2. The observation is replaced by that of the reset before the transition is stored. Confirm: read the order of the
       lines.
    3. A window of several steps is emptied at true ends only. Confirm: look at what happens to it when `truncated` is
       set.

    ## What to try first
    Store `info["final_obs"]` as the next observation where a step is truncated; empty every window there.

    ## When it is fine
    Where the target of truncated steps is the reward alone, the observation does not matter; that is not counted.

    ## References
    Pardo et al., *Time Limits in Reinforcement Learning*.
    Seen in the wild: BUF-05, ADV-13 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF304"
    name: ClassVar[str] = "truncation-leads-into-next-episode"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"
    follows: ClassVar[tuple[str, ...]] = ("BUF302", "BUF303")

    rows: int = 5  # truncated ones that can be followed

    def check(self, evidence: Script) -> Iterator[Finding]:
        cut = crossed = ended = ended_right = masked = told = 0
        where: Event | None = None
        for term, pairs in by_prediction(evidence):
            pair = max((each for each in pairs if without_gradient(evidence, each.call)), key=lambda each: each.later,
                       default=None)  # fmt: skip
            if pair is None or pair.later < 0.5:
                continue
            first, last, true_end = followed(pair)
            cut += int((last != 0).sum())
            over = last == 2
            crossed += int(over.sum())
            ended += int((true_end != 0).sum())
            ended_right += int((true_end == 1).sum())
            if over.any():
                where = where or pair.call.event
                target = term.arrays.get("target")
                if target is not None and target.shape == pair.predicted.shape:
                    reward = pair.audit.nodes.reward[pair.predicted[pair.sure]]
                    told += int(over[first].sum())
                    bare = np.abs(target[pair.sure] - reward) <= 1e-4 * (1 + np.abs(reward))
                    masked += int((bare & over & first).sum())
        if cut < self.rows:
            raise NotEnough(f"{cut} truncated steps in batches of a Q-regression could be followed")
        if where is None or crossed < self.rows or crossed < 0.5 * cut:
            return
        # Either it is seen in the target, or the same code does it right where an episode truly ends.
        in_target = told >= self.rows and masked < 0.2 * told
        other_way = ended >= self.rows and ended_right >= 0.95 * ended
        if in_target or other_way:
            yield self.finding(
                "steps cut off by a time limit are bootstrapped from the next episode",
                where=where.where,
                seen=f"{crossed} of {cut} truncated steps lead to an observation of a later episode"
                + (f", of {ended} true ends {ended - ended_right} do" if other_way else ""),
                expected="the final observation of the episode that was cut off",
                help="store the final observation (info['final_obs']) as the next one, and empty n-step windows at "
                "truncations",
                confidence=0.95,
            )


def followed(pair: Pair) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Of each sure row: whether its own step is the truncated one; where truncated, and where terminated episodes lead.

    0: no such end lies within reach; 1: to the final observation of that episode; 2: beyond it.
    """
    nodes = pair.audit.nodes
    s, t = pair.predicted[pair.sure], pair.called[pair.sure]
    own = np.zeros(len(s), dtype=bool)
    cut, end = np.zeros(len(s), dtype=np.int64), np.zeros(len(s), dtype=np.int64)
    for row, (start, goal) in enumerate(zip(s, t, strict=True)):
        place = int(start)
        for step in range(12):
            if not nodes.acted[place]:
                break
            after = int(nodes.index(nodes.nxt[place : place + 1])[0])
            if nodes.terminated[place] or nodes.truncated[place]:
                if after < 0:
                    break
                beyond = 1 if after == goal else 2 if nodes.call[goal] >= nodes.call[after] else 0
                (end if nodes.terminated[place] else cut)[row] = beyond
                own[row] = step == 0
                break
            if after < 0 or after == goal:
                break
            place = after
    return own, cut, end
