"""The same few transitions come out of the replay buffer again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReplayDuplicates(Rule):
    """Most rows of a replay batch are copies of one another.

    ## What it checks
    The share of rows in a batch that equal another row, once far more transitions were collected than a batch holds.
    Finite state spaces repeat by nature and are left out: there, rows that differ still share each of their entries
    with other rows; continuous observations do not.

    ## Why it matters
    The buffer holds, or hands out, only a few transitions: the agent learns those by heart.

    ## Likely causes
    1. One array is stored many times and overwritten in place, so that all rows show its last content. Confirm: store
       `obs.copy()`.
    2. Only a few indices can be drawn: the wrong upper bound, or the write index used as the size. Confirm: print the
       smallest and largest sampled index.
    3. Each transition is inserted many times. Confirm: compare the buffer's size with the env steps taken.

    ## What to try first
    Print the sampled indices, and how many of them are different.

    ## When it is fine
    A buffer that holds hardly more than a batch, and prioritised replay early on.

    ## References
    Farama-Foundation/SuperSuit pull request 116 (observations stored by reference).
    """

    code: ClassVar[str] = "BUF008"
    name: ClassVar[str] = "replay-duplicates"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = (
        "replay/duplicates",
        "replay/shared_entries",
        "replay/fingerprint",
        "batch/rows",
    )

    share: float = 0.5  # of the rows equal to another one
    readings: int = 5  # batches, in the second half of the run
    plenty: float = 20.0  # env steps per row of a batch, collected before a repetition counts
    alike: float = 0.98  # share of equal rows that makes a batch one row, many times

    def check(self, evidence: Run) -> Iterator[Finding]:
        rows = evidence["batch/rows"].median()
        copies = evidence["replay/duplicates"].finite
        copies = copies.keep(copies.env_step >= self.plenty * rows)
        copies = copies.keep(copies.update >= 0.5 * copies.update[-1]) if len(copies) else copies
        if len(copies) < self.readings or rows < 8:
            raise NotEnough(f"{len(copies)} batches after {self.plenty * rows:.0f} env steps, needs {self.readings}")
        if np.mean(copies.value > self.share) < 0.9:
            return
        shared = evidence["replay/shared_entries"].finite
        shared = shared.keep(np.isin(shared.update, copies.update))
        one_row = copies.median() > self.alike
        # All rows equal, and yet others than in the batch before: one array, overwritten in place.
        hashes = evidence["replay/fingerprint"].tail(0.5).finite.value
        continuous = len(np.unique(hashes)) > len(hashes) // 2 if one_row else shared.max() <= 0.01
        if not continuous:
            return
        yield self.finding(
            "most rows of a replay batch are copies of one another",
            where=replace(evidence.call("replay"), update=int(copies.update[0]), env_step=int(copies.env_step[0])),
            seen=f"{copies.median():.0%} of the {rows:.0f} rows equal another row of their batch, after "
            f"{copies.env_step[0]} env steps",
            expected="hardly any: many more transitions were collected than a batch holds",
            help="print the sampled indices, and store copies of the observations",
            confidence=0.8,
        )
