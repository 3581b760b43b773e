"""A wrapper cannot work with the way its vector environment restarts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_GOT = re.compile(r"autoreset_mode.*got (?:AutoresetMode\.)?(\w+)")


@dataclass(frozen=True, kw_only=True)
class AutoresetModeRefused(Rule):
    """A wrapper cannot work with the way its vector environment restarts.

    ## What it checks
    A wrapper of Gymnasium refused a vector environment because of its `autoreset_mode`.

    ## Why it matters
    With `SAME_STEP` the last observation of an episode is in the info, where a wrapper that changes observations does
    not look: normalised observations would come with final ones that are not.

    ## Likely causes
    1. Observations are normalised or changed around a vector that restarts within the step. Confirm: the wrapper that
       the traceback ends in.

    ## What to try first
    Put the wrapper around each single environment, before they are made into a vector; or use `NEXT_STEP`, and leave
    out the step after each end.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, *Vector environments: autoreset modes*.
    """

    code: ClassVar[str] = "ENV455"
    name: ClassVar[str] = "autoreset-mode-refused"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("ValueError", "AssertionError") and _GOT.search(evidence.message) is not None

    def check(self, evidence: Crash) -> Iterator[Finding]:
        got = _GOT.search(evidence.message)
        if got is None or not self.concerns(evidence):
            return
        yield self.finding(
            f"a wrapper does not work with autoreset mode {got[1]}",
            where=evidence.where,
            seen=evidence.said,
            expected="an autoreset mode that every wrapper around the vector understands",
            help="wrap the single environments instead, or make the vector with AutoresetMode.NEXT_STEP",
            confidence=0.95,
        )
