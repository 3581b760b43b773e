"""Samples get older with every update: new data never replaces the old."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StalenessGrows(Rule):
    """Samples get older with every update: no new data reaches the learner.

    ## What it checks
    The mean age of the samples, in learner steps, against the age they would have if every transition collected so far
    were equally likely to be sampled. A buffer that is still filling stays at or below that; one that takes in nothing
    new grows by a full step per update, although the environment is being stepped.

    ## Why it matters
    The agent acts, and what it finds out is thrown away: it goes on learning from its first, worst behaviour.

    ## Likely causes
    1. A full buffer refuses new rows instead of overwriting the oldest. Confirm: step past the capacity and look
       whether the newest transition can be sampled.
    2. The index to write at, or the size to sample from, is not advanced. Confirm: print both after each insert.
    3. Rollouts are collected but the learner is handed the first one. Confirm: `rollout/fingerprint` and
       `batch/fingerprint` must change.

    ## What to try first
    Print the age of the newest row in the buffer after a thousand updates.

    ## When it is fine
    Learning offline from a fixed data set, or online from a buffer that was first filled with a large one.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (sample staleness).
    """

    code: ClassVar[str] = "BUF002"
    name: ClassVar[str] = "staleness-grows"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("batch/staleness_mean",)
    follows: ClassVar[tuple[str, ...]] = ("BUF004", "BUF005")

    readings: int = 16  # fewer show no trend
    updates: int = 100  # learner steps the run must have taken
    excess: float = 0.8  # of the way from "everything collected is equally likely" to "nothing new at all"
    room: float = 0.2  # share of the run's length between those two; less says nothing

    def check(self, evidence: Run) -> Iterator[Finding]:
        stale = evidence["batch/staleness_mean"].finite
        if len(stale) < self.readings or stale.update[-1] < self.updates:
            raise NotEnough(
                f"{len(stale)} readings over {evidence.updates} updates, needs {self.readings} over {self.updates}"
            )
        # Each reading adds what was collected since the last one, at the age the learner had then.
        age = stale.update.astype(np.float64)
        collected = np.diff(stale.env_step, prepend=0).astype(np.float64)
        total = np.maximum(np.cumsum(collected), 1.0)
        uniform = age - np.cumsum(collected * age) / total
        late = age >= 0.75 * age[-1]
        span = age[late] - uniform[late]
        if not np.all(span > self.room * age[late]):
            return  # hardly anything was collected after the start: a data set, or a long warm-up
        excess = (stale.value[late] - uniform[late]) / span
        if np.median(excess) < self.excess:
            return
        severity = self._severity(evidence)
        yield self.finding(
            "the samples get older with every update",
            where=replace(evidence.call("update"), update=int(stale.update[-1]), env_step=int(stale.env_step[-1])),
            seen=f"samples {stale.last:.0f} learner steps old on average at update {stale.update[-1]}, though "
            f"{int(stale.env_step[-1] - stale.env_step[0])} env steps were taken since the first update",
            expected=f"at most about {uniform[-1]:.0f}, the age of everything collected so far; less once old rows go",
            help="check that new transitions overwrite the oldest ones when the buffer is full",
            confidence=0.8 if severity == "warning" else 0.6,
            severity=severity,
        )

    def _severity(self, run: Run) -> Severity:
        """Certain only where the rows themselves say so: rollouts that are not handed over look just like this."""
        if any(name.startswith("replay/") for name in run.series):
            return "note"
        given = np.any(run["batch/staleness_max"].value != run["batch/staleness_mean"].value)
        share = run["policy/logp_from_rollout"].tail(0.25).median()
        return "warning" if given or share > 0.9 else "note"
