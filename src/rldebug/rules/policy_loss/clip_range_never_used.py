"""The clipping range of the ratio is given, and no line uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.options import unread
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClipRangeNeverUsed(Rule):
    """The clipping range of the ratio is given, and no line uses it.

    ## What it checks
    The source of the program, when it has ended. A setting whose name means the clipping range of the ratio (an option,
    a field of a config, a constant, a parameter of a function) is used in no line: it is at most handed on under the
    same name, or printed. Where settings are read by names that are made up at run time, nothing is said. It is a
    warning where a function takes it and never looks at it, a note else: it may be left over.

    ## Why it matters
    Nothing holds the policy near the one that gathered the data: several passes over a batch drive it away.

    ## Likely causes
    1. The clipped term was dropped, or has a constant of its own. Confirm: follow the setting to the line that should
       use it.

    ## What to try first
    Follow the setting from where it is given to the formula.

    ## When it is fine
    Where a penalty on the KL divergence takes its place.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms*.
    """

    code: ClassVar[str] = "POL390"
    name: ClassVar[str] = "clip-range-never-used"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # a setting may be left over on purpose
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if "arguments" in evidence.counts.get("off", ()) or not evidence.counts.get("updates"):
            raise NotEnough("options were not watched, or nothing was trained")
        found = sorted(
            (each for each in unread(evidence, "clip") if each.value != 0), key=lambda each: each.where != "parameter"
        )
        if found:
            first = found[0]
            ignored = first.where == "parameter"
            yield self.finding(
                "the clipping range is used nowhere",
                where=first.place,
                seen=first.seen,
                expected="the range around 1 in the clipped ratio",
                help=f"clamp the ratio to 1 − {first.name} and 1 + {first.name}",
                confidence=0.7 if ignored else 0.6,
                severity="warning" if ignored else "note",
            )
