"""An environment is asked for an attribute that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import missing_attribute
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AttributeNotGiven(Rule):
    """An environment is asked for an attribute that it does not have.

    ## What it checks
    The program ended because an environment of its own has no attribute of a name that one of its lines reads.

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
    Gymnasium, *Create a custom environment*.
    """

    code: ClassVar[str] = "ENV480"
    name: ClassVar[str] = "attribute-not-given"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        graph = evidence.graph
        by_reset = (graph.get("set") or {}).get("function") == "reset"  # it was stepped before it was reset
        return graph.get("fault") == "attribute" and graph.get("kind") == "environment" and not by_reset

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
