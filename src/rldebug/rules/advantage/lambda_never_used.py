"""GAE's λ is given, and no line uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.options import unread
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LambdaNeverUsed(Rule):
    """GAE's λ is given, and no line uses it.

    ## What it checks
    The source of the program, when it has ended. A setting whose name means GAE's λ (an option, a field of a config, a
    constant, a parameter of a function) is used in no line: it is at most handed on under the same name, or printed.
    Where settings are read by names that are made up at run time, nothing is said. It is a warning where a function
    takes it and never looks at it, a note else: it may be left over.

    ## Why it matters
    The advantage is another one than is set: a plain return, or a one-step error.

    ## Likely causes
    1. The recursion lost a factor. Confirm: follow the setting to the line that should use it.

    ## What to try first
    Follow the setting from where it is given to the formula.

    ## When it is fine
    A λ of 1 does nothing, and is left out.

    ## References
    Schulman et al., *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV390"
    name: ClassVar[str] = "lambda-never-used"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # a setting may be left over on purpose
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if "arguments" in evidence.counts.get("off", ()) or not evidence.counts.get("updates"):
            raise NotEnough("options were not watched, or nothing was trained")
        found = sorted(
            (each for each in unread(evidence, "lam") if each.value != 1), key=lambda each: each.where != "parameter"
        )
        if found:
            first = found[0]
            ignored = first.where == "parameter"
            yield self.finding(
                "λ of the advantage is used nowhere",
                where=first.place,
                seen=first.seen,
                expected="λ in the recursion of the advantages",
                help=f"multiply γ by {first.name} in the recursion",
                confidence=0.7 if ignored else 0.6,
                severity="warning" if ignored else "note",
            )
