"""A package that the program needs is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PackageMissing(Rule):
    """A package that the program needs is not installed.

    ## What it checks
    An import failed, or an environment was asked for whose package is not there.

    ## Why it matters
    The program cannot begin.

    ## Likely causes
    1. The package is not installed in this Python. Confirm: `python -m pip show` its name.
    2. Another Python runs than the one it was installed for. Confirm: print `sys.executable`.
    3. The environments of the package are not registered. Confirm: import the package first.

    ## What to try first
    Install what the message names, with the Python that runs the program.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, *Installation*.
    """

    code: ClassVar[str] = "INS401"
    name: ClassVar[str] = "package-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("ModuleNotFoundError", "DependencyNotInstalled", "NamespaceNotFound") or evidence.says(
            "Have you installed the proper package", "is not installed,? (run|please|try)"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a package is missing",
            where=evidence.where,
            seen=evidence.said,
            expected="everything that is imported to be installed",
            help="install what the message names, with the Python that runs the program",
            confidence=0.9,
        )
