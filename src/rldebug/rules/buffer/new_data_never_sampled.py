"""What was collected lately is never learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ages import drawn
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NewDataNeverSampled(Rule):
    """What was collected lately is never learned from.

    ## What it checks
    The rows of batches are traced back to their environment steps. The newest row that is ever drawn lies ever further
    behind the newest step: a share of everything collected, or all of it since some moment, is never drawn.

    ## Why it matters
    The agent does not learn from what its present policy meets, which is what it has yet to learn.

    ## Likely causes
    1. A full buffer takes nothing more: the write position does not wrap. Confirm: print the position after `capacity +
       1` steps.
    2. Indices are drawn below a number that is not kept up to date, or below half of it. Confirm: print the largest
       index drawn beside the number of rows.
    3. The learner holds a copy of the buffer, or a data loader over an old list. Confirm: compare their `id`s.

    ## What to try first
    Print the age in steps of the newest row of each batch: it should stay below a few hundred.

    ## When it is fine
    Learning from a fixed data set while the environment is only used to evaluate. Updates and steps then do not
    alternate, and it is not counted.

    ## References
    Seen in the wild: BUF-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF308"
    name: ClassVar[str] = "new-data-never-sampled"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "indices"
    follows: ClassVar[tuple[str, ...]] = ("BUF306",)

    audits: int = 4  # in which enough rows are known
    rows: int = 200  # of an audit
    lag: float = 0.2  # of all steps so far lie behind the newest row
    growth: float = 1.5  # by which that has grown from the first to the last of these audits
    updates: int = 40  # in a phase: more are no alternation

    def check(self, evidence: Script) -> Iterator[Finding]:
        looks = [each for each in drawn(evidence) if len(each.calls) >= self.rows and each.unknown < 0.2]
        late = looks[len(looks) // 3 :]
        if len(late) < self.audits:
            raise NotEnough(f"{len(late)} audits with {self.rows} rows that could be traced")
        phases = max(int(evidence.counts.get("phases") or 0), 1)
        if int(evidence.counts.get("updates") or 0) > self.updates * phases or phases < 30:
            return
        behind = np.array([each.lag / each.now for each in late])
        lags = np.array([each.lag for each in late])
        if behind.min() < self.lag or lags[-1] < self.growth * max(lags[0], 1):
            return
        last = late[-1]
        yield self.finding(
            "what was collected lately is never learned from",
            where=last.first.where,
            seen=f"of {last.now} env calls so far the newest {last.lag} are in none of {len(last.calls)} rows; at "
            "first it was "
            f"{lags[0]}",
            expected="rows from all of the buffer, the newest included",
            help="draw indices over everything that is stored, and let the write position wrap around",
            confidence=0.93,
        )
