"""New rows of a prioritised replay have less priority than most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.priorities import drawn_again
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NewRowsDrawnLast(Rule):
    """New rows of a prioritised replay have less priority than most.

    ## What it checks
    Rows that are drawn twice within a few updates show which weight stands for which error. Some of the newest rows of
    a batch have one weight in common: that of a row whose error is not known yet. It stands for an error that most rows
    of the batch exceed.

    ## Why it matters
    What has just been seen is drawn less often than what is known already, or never.

    ## Likely causes
    1. New rows are stored with a small constant, or with 0, as priority. Confirm: print the priority of a new row and
       the largest one.
    2. The largest priority so far is kept after it was raised to the power alpha, and raised again for new rows.
       Confirm: the same.

    ## What to try first
    Store new rows with the largest priority so far.

    ## When it is fine
    Where the error of a new row is computed before it is stored.

    ## References
    Schaul et al. 2016, *Prioritized Experience Replay*, algorithm 1.
    """

    code: ClassVar[str] = "BUF357"
    name: ClassVar[str] = "new-rows-drawn-last"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    batches: int = 4  # with new rows
    share: float = 0.5  # of the rows of a batch that exceed it

    def check(self, evidence: Script) -> Iterator[Finding]:
        known = [each for each in drawn_again(evidence) if np.isfinite(each.new)]
        if len(known) < self.batches or len({each.audit.number for each in known}) < 2:
            raise NotEnough(f"{len(known)} batches with new rows beside some that were drawn again")
        low = [each for each in known if np.mean(each.errors > each.new) > self.share]
        if len(low) < self.batches or len(low) < 0.7 * len(known) or len({each.audit.number for each in low}) < 2:
            return
        new = float(np.median([each.new for each in low]))
        usual = float(np.median(np.concatenate([each.errors for each in low])))
        yield self.finding(
            "new rows have less priority than most others",
            where=low[0].term.where,
            seen=f"theirs stands for an error of {new:.2g}; half of the rows that are drawn have more than {usual:.2g}",
            expected="the largest priority so far, so that every row is drawn soon",
            help="store new rows with the largest priority so far",
            confidence=0.9,
        )
