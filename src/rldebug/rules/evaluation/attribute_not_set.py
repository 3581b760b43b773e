"""An object of the program is asked for an attribute it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import missing_attribute
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AttributeNotSet(Rule):
    """An object of the program is asked for an attribute it does not have.

    ## What it checks
    The program ended because an object of a class of its own has no attribute of a name that one of its lines reads.
    Networks and environments have rules of their own.

    ## Why it matters
    The program has ended; another path of it may have run for hours before it came to this line.

    ## Likely causes
    1. It is called otherwise where it is set. Confirm: look for a similar name in `__init__`.
    2. It is set by a method that has not been called yet. Confirm: look for the line that sets it.
    3. The line that sets it stands under a condition, or in a base class whose `__init__` is not called. Confirm: the
       same.

    ## What to try first
    Compare the name with those that `__init__` sets.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *Classes*.
    """

    code: ClassVar[str] = "EVA480"
    name: ClassVar[str] = "attribute-not-set"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.graph.get("fault") == "attribute" and evidence.graph.get("kind") not in (
            "network",
            "environment",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        message, seen, help = missing_attribute(evidence)
        yield self.finding(
            message,
            where=evidence.where,
            seen=f"{evidence.said}{seen}",
            expected="an attribute that is set before it is read",
            help=help,
            confidence=0.9,
        )
