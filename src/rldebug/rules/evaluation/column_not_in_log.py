"""A row of the log has a column that its head has not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ColumnNotInLog(Rule):
    """A row of the log has a column that its head has not.

    ## What it checks
    `csv.DictWriter` refused a key that is not among its field names.

    ## Why it matters
    The head of a table is written once, from the first row.

    ## Likely causes
    1. Evaluation, loss or entropy appears for the first time after the head was written. Confirm: compare with the
       first row.

    ## What to try first
    Give all names at the start, and leave cells empty with `restval=""`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `csv.DictWriter`.
    """

    code: ClassVar[str] = "EVA455"
    name: ClassVar[str] = "column-not-in-log"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("dict contains fields not in fieldnames")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"not in fieldnames: (.+)", evidence.message)
        yield self.finding(
            f"the log has no column {found[1] if found else 'for it'}",
            where=evidence.where,
            seen=evidence.said,
            expected="every column named when the file is begun",
            help='name every column in fieldnames from the start (restval="" fills the gaps), or extrasaction="ignore"',
            confidence=0.95,
        )
