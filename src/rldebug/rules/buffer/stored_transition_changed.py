"""A stored transition is changed, and cannot be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class StoredTransitionChanged(Rule):
    """A stored transition is changed, and cannot be.

    ## What it checks
    A field of a named tuple, or an item of a tuple, was assigned.

    ## Why it matters
    A tuple stays as it was made.

    ## Likely causes
    1. The reward or the return is written into a transition after it was stored. Confirm: the line that is named.

    ## What to try first
    Make a new one: `transition._replace(reward=…)`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `collections.namedtuple`.
    """

    code: ClassVar[str] = "BUF455"
    name: ClassVar[str] = "stored-transition-changed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        if evidence.says("'tuple' object does not support item assignment"):
            return True
        line = evidence.at.source if evidence.at else ""
        fixed = evidence.is_a("AttributeError") and evidence.says("^can't set attribute")
        return fixed and re.search(r"\.\w+ *[-+*/]?=[^=]", line) is not None

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"([\w.\[\]]+)\.(\w+) *[-+*/]?=[^=]", evidence.at.source) if evidence.at else None
        help = (
            f"{found[1]} = {found[1]}._replace({found[2]}=…)"
            if found
            else "make a new tuple, or store a list or dataclass"
        )
        yield self.finding(
            f"{found[2]} of {found[1]} cannot be assigned: it is a tuple"
            if found
            else "an item of a tuple was assigned",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.source if evidence.at else ''}`",
            expected="a new tuple, or a list, dictionary or dataclass",
            help=help,
            confidence=0.85,
        )
