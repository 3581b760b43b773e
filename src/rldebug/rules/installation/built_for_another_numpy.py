"""A package was compiled for another version of NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BuiltForAnotherNumpy(Rule):
    """A package was compiled for another version of NumPy.

    ## What it checks
    An import failed because a compiled package does not fit the NumPy that is installed.

    ## Why it matters
    Packages that were built for NumPy 1 cannot run with NumPy 2, and the other way round.

    ## Likely causes
    1. NumPy was updated to 2 by the installation of something else. Confirm: `python -m pip show numpy`.
    2. An old package, as gym, mujoco-py or an old opencv, has no build for NumPy 2. Confirm: the traceback ends in it.

    ## What to try first
    Update the package; where there is no newer one, `python -m pip install "numpy<2"`.

    ## When it is fine
    Never: the program has ended.

    ## References
    NumPy 2.0, *Migration guide*.
    """

    code: ClassVar[str] = "INS443"
    name: ClassVar[str] = "built-for-another-numpy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "compiled using NumPy 1.x cannot be run in",
            "numpy.dtype size changed, may indicate binary incompatibility",
            r"numpy\.core\.multiarray failed to import",
            "module compiled against (API|ABI) version",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        failed = evidence.last.module.split(".")[0] if evidence.last and not evidence.last.own else ""
        yield self.finding(
            f"{failed or 'a package'} was compiled for another version of NumPy",
            where=evidence.where,
            seen=evidence.said,
            expected="builds that fit each other",
            help=(f"python -m pip install --upgrade {failed}" if failed else "update what the traceback ends in")
            + '; where there is no newer build, python -m pip install "numpy<2"',
            confidence=0.95,
        )
