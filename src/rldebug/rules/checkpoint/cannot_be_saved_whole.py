"""What is saved or copied holds something that cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.sent import article, told_as
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CannotBeSavedWhole(Rule):
    """What is saved or copied holds something that cannot be.

    ## What it checks
    Pickling an object for a file, or a deep copy of it, failed. In a live program the way to what refuses is told.

    ## Why it matters
    An agent that is saved as an object takes along all it holds: writers, workers, windows, lambdas.

    ## Likely causes
    1. The whole agent, buffer or environment is saved where its numbers would do. Confirm: look at the attribute
       that is named.
    2. An environment is copied for planning or evaluation, and holds a window, a lock or a simulator. Confirm: the
       same.

    ## What to try first
    Save `state_dict()` and plain settings; make a second environment instead of a copy.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Saving and loading models*; Python, `pickle`.
    """

    code: ClassVar[str] = "CKP450"
    name: ClassVar[str] = "cannot-be-saved-whole"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        if not evidence.says(r"[Cc]an(no|')t pickle|pickle local object|Can't get local object|AuthenticationString"):
            return False
        return (
            evidence.between.get("sent", {}).get("by") in ("pickle", "copy", "torch.serialization")
            or evidence.inside("copy", "torch.serialization")
            or bool(evidence.last and evidence.last.own and ".dump" in evidence.last.source)
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        sent = evidence.between.get("sent", {})
        path, kind, holder = sent.get("path", ""), sent.get("type", ""), sent.get("holder", "")
        copied = sent.get("by") == "copy" or evidence.inside("copy")
        what = told_as(sent) or "a part of it"
        yield self.finding(
            f"{what} cannot be {'copied' if copied else 'saved'}",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {article(kind)} lies at {path}' if holder else ''}",
            expected="data and settings",
            help=f"make a second object with the same settings, or leave {holder or path or 'it'} out in __deepcopy__"
            if copied
            else f"save state_dict() and plain settings, and make {holder or path or 'the rest'} anew when loading",
            confidence=0.9,
        )
