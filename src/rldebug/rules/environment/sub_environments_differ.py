"""The environments of one vector have different spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SubEnvironmentsDiffer(Rule):
    """The environments of one vector have different spaces.

    ## What it checks
    A vector environment refused factories whose spaces are not the same.

    ## Why it matters
    Their observations are stacked into one array; that needs one shape and one range.

    ## Likely causes
    1. The factories make environments with different settings, sizes or wrappers. Confirm: print the spaces of
       each.
    2. Bounds are computed from data, or from a random start. Confirm: make one twice and compare.

    ## What to try first
    Make all of them with one function and the same settings.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `AsyncVectorEnv`: `observation_mode`.
    """

    code: ClassVar[str] = "ENV451"
    name: ClassVar[str] = "sub-environments-differ"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "sub-environments? .*spaces? (is|are) not equivalent", "spaces? .*sub-environments? .*not equivalent"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"single_\w+_space=(.+?), sub-environment \w+_space=(.+?)\. If", evidence.message)
        both = f": {found[1]} and {found[2]}" if found else ""
        yield self.finding(
            f"the environments of one vector have different spaces{both}",
            where=evidence.where,
            seen=f"{evidence.said}{_odd(evidence)}",
            expected="the same observation and action space in each",
            help="make every environment with the same settings and wrappers; where only their bounds "
            "are meant to differ, observation_mode='different'",
            confidence=0.95,
        )


def _odd(evidence: Crash) -> str:
    """Which of them differ, where the vector environment has counted them."""
    for _, name, fact in evidence.held("collection"):
        flags = [each.get("value") for each in fact.get("items", [])]
        if name.startswith("same_") and flags and all(isinstance(each, bool) for each in flags):
            odd = [str(place) for place, same in enumerate(flags) if not same]
            return f"; it is number {', '.join(odd)}, counted from 0" if odd else ""
    return ""
