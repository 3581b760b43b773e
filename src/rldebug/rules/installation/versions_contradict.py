"""Installed packages rule one another's versions out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class VersionsContradict(Rule):
    """Installed packages rule one another's versions out.

    ## What it checks
    What each installed package of reinforcement learning declares to need, beside what is installed.

    ## Why it matters
    The package was neither made for nor tried with that version: what it calls may be gone, or mean something else.

    ## Likely causes
    1. Something was upgraded by hand, or by the installation of another package. Confirm: `pip check` lists it too.
    2. The declared bound is more cautious than need be. Confirm: run the package's own examples.

    ## What to try first
    Install a version that is allowed, or a newer one of the package that forbids it.

    ## When it is fine
    Where you know that the two work together.

    ## References
    Python Packaging User Guide, *Dependency specifiers*.
    """

    code: ClassVar[str] = "INS710"
    name: ClassVar[str] = "versions-contradict"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        for each in evidence.conflicts:
            yield self.finding(
                f"{each.package} {each.version} rules {each.other} {each.installed} out",
                seen=f"{each.other} {each.installed}",
                expected=f"{each.needs}, by what {each.package} declares",
                help=f"pip install --upgrade {each.package}; or pip install '{each.needs}'",
                confidence=0.75,
            )
