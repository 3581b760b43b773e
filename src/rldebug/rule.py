"""Rule: evidence in, findings out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from rldebug.entry import Entry
from rldebug.finding import Edit, Finding, Severity, Where


class NotEnough(Exception):
    """Raised inside `check` when the evidence is too thin to judge. The rule is listed as skipped, with this reason."""


@dataclass(frozen=True, kw_only=True)
class Rule(Entry):
    """A fault, how to see it, and its page. Subclasses are final; their fields are their thresholds."""

    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "stable"
    reads: ClassVar[str] = "Run"
    needs: ClassVar[tuple[str, ...]] = ()  # readings that must have been recorded, all of them
    in_log: ClassVar[tuple[str, ...] | None] = None  # those that suffice in a foreign log; None: all the same
    facts: ClassVar[tuple[str, ...]] = ()  # structural facts that must have been recorded, all of them
    aim: ClassVar[str] = ""  # the quantity whose statement its findings point at: see forensics/placed.py
    follows: ClassVar[tuple[str, ...]] = ()  # codes of roots this usually is a consequence of
    explains: ClassVar[tuple[str, ...]] = ()  # codes that see the same fault by its effects: they follow from this one
    symptom: ClassVar[bool] = False  # where any fault may end up: follows from every other finding
    aftermath: ClassVar[bool] = False  # what many faults end in: follows from each that was seen in the program's data
    trap: ClassVar[bool] = False  # can be checked on a single update, so that the run can be stopped there

    def concerns(self, evidence: Any) -> bool:
        """Whether evidence of the kind it reads is about what it checks: a mistake in GAE asks for a gae()."""
        return True

    def check(self, evidence: Any) -> Iterator[Finding]:
        raise TypeError(f"{type(self).__name__} does not define check()")

    def finding(
        self,
        message: str,
        *,
        seen: str,
        expected: str,
        help: str,
        where: Where | None = None,
        confidence: float = 0.9,
        severity: Severity | None = None,
        edits: tuple[Edit, ...] = (),
        speedup: float | None = None,
    ) -> Finding:
        return Finding(
            code=self.code,
            name=self.name,
            component=self.component(),
            severity=severity or self.severity,
            message=message,
            seen=seen,
            expected=expected,
            help=help,
            confidence=confidence,
            where=where or Where(),
            edits=edits,
            speedup=speedup,
        )

    def thresholds(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}
