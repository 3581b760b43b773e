"""The learner sees only part of what the actor collects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SamplesThrownAway(Rule):
    """The learner sees only part of what the actor collects.

    ## What it checks
    Samples learned from per sample collected, since the first update, in each quarter of the run: below one half in all
    of them.

    ## Why it matters
    Steps in the environment are mostly the expensive part; those that no update ever sees are wasted.

    ## Likely causes
    1. Only some of the environments, or some of the steps, make it into the batch. Confirm: compare `batch/rows` times
       updates per rollout with `rollout/steps`.
    2. The learner cannot keep up with the actors. Confirm: `pace/samples` is below `pace/env_steps`.
    3. Updates are too rare for the batch size. Confirm: raise the number of updates per step.

    ## What to try first
    Print the rows of a batch and the steps collected for it.

    ## When it is fine
    Actors that run ahead on purpose to refresh a replay buffer; loops that hand over only some of their updates.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (component throughput).
    """

    code: ClassVar[str] = "PRF002"
    name: ClassVar[str] = "samples-thrown-away"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("batch/rows", "pace/env_steps")

    reuse: float = 0.5  # samples learned per sample collected; masked rows alone stay well above
    updates: int = 32  # learner steps per quarter of the run

    def check(self, evidence: Run) -> Iterator[Finding]:
        rows = evidence["batch/rows"].finite
        if evidence.updates < 4 * self.updates or len(rows) < 8:
            raise NotEnough(f"{evidence.updates} updates, needs {4 * self.updates}")
        cuts = np.searchsorted(rows.update, np.linspace(rows.update[0], rows.update[-1], 5))
        steps = np.diff(rows.env_step[cuts]).astype(np.float64)
        learned = np.diff(rows.update[cuts]) * [
            float(np.mean(rows.value[start : end + 1])) for start, end in pairwise(cuts)
        ]
        if np.any(steps <= 0) or np.any(learned >= self.reuse * steps):
            return
        yield self.finding(
            "the learner sees only part of what is collected",
            where=Where(update=int(rows.update[-1]), env_step=int(rows.env_step[-1])),
            seen=f"{learned.sum():.0f} samples learned from, {steps.sum():.0f} collected since the first update: "
            f"{learned.sum() / steps.sum():.2f} per sample",
            expected="at least 1",
            help="check that every step of every environment reaches a batch, or update more often",
            confidence=0.7,
        )
