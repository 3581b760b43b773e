"""In replay, the next observation is the observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NextObsEqualsObs(Rule):
    """In replay, the next observation equals the observation.

    ## What it checks
    Nearly all sampled transitions have `next_obs` equal to `obs`, bit for bit, in batch after batch, while the
    observations of different rows differ and episodes are longer than one step.

    ## Why it matters
    The bootstrapped target asks for the value of the very state it is computed for: the dynamics are gone, and values
    run off towards r / (1 − γ).

    ## Likely causes
    1. `obs = next_obs` comes before the transition is stored. Confirm: print both at the line that stores them.
    2. Both fields refer to one array that the environment overwrites in place. Confirm: store `obs.copy()`.
    3. Both are read from the same column when a batch is built. Confirm: look at the sampling code.

    ## What to try first
    Print `(obs == next_obs).all()` at the line that stores a transition.

    ## When it is fine
    Environments in which the state hardly ever changes. One-step tasks, where the next observation does not matter.

    ## References
    Tambon et al., *Mutation Testing of Deep Reinforcement Learning* (missing state update). Farama-Foundation/SuperSuit
    pull request 116 (observations stored by reference).
    """

    code: ClassVar[str] = "BUF006"
    name: ClassVar[str] = "next-obs-equals-obs"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "rows"
    needs: ClassVar[tuple[str, ...]] = ("replay/stuck", "replay/duplicates")

    share: float = 0.99  # of the rows
    readings: int = 8  # batches
    alike: float = 0.95  # share of equal rows above which the observations cannot be said to vary

    def check(self, evidence: Run) -> Iterator[Finding]:
        stuck = evidence["replay/stuck"].finite
        if len(stuck) < self.readings:
            raise NotEnough(f"{len(stuck)} replay batches, needs {self.readings}")
        hits = stuck.value >= self.share
        if np.mean(hits) < 0.9 or not evidence["replay/duplicates"].median() < self.alike:
            return
        terminal, length = evidence["replay/terminated"].mean(), evidence["episode/length_mean"].mean()
        if not (terminal < 0.5 or length > 1.5):
            return  # one-step episodes, or nothing that says how long they are
        first = stuck.at(hits) or 0
        yield self.finding(
            "the next observation of every replayed transition is the observation itself",
            where=replace(
                evidence.call("replay"), update=int(stuck.update[first]), env_step=int(stuck.env_step[first])
            ),
            seen=f"next_obs equal to obs in {stuck.median():.0%} of the rows, in {hits.sum()} of {len(stuck)} batches",
            expected="next_obs to differ from obs in nearly every row",
            help="store the transition before obs = next_obs, and store copies of both",
            confidence=0.97,
        )
