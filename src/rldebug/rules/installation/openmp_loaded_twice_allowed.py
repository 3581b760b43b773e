"""The check against two OpenMP runtimes is switched off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OpenmpLoadedTwiceAllowed(Rule):
    """The check against two OpenMP runtimes is switched off.

    ## What it checks
    Whether KMP_DUPLICATE_LIB_OK is set to true.

    ## Why it matters
    Two runtimes of OpenMP in one process each start threads of their own: slow at best, and by the word of those who
    wrote it crashes or wrong results without a word.

    ## Likely causes
    1. It was set to silence the error about libiomp5. Confirm: unset it, and see whether the program starts.
    2. Packages of pip and of conda are mixed. Confirm: `pip list` and `conda list` both name numpy, or torch.

    ## What to try first
    Unset it; where the error comes back, install NumPy and PyTorch from one source into a new environment.

    ## When it is fine
    To get on with something else for an hour.

    ## References
    Intel, *OpenMP library: OMP: Error #15*.
    """

    code: ClassVar[str] = "INS720"
    name: ClassVar[str] = "openmp-loaded-twice-allowed"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        value = evidence.variables.get("KMP_DUPLICATE_LIB_OK", "")
        if value.lower() not in ("true", "1", "yes", "t"):
            return
        yield self.finding(
            "two OpenMP runtimes are let into one process by KMP_DUPLICATE_LIB_OK",
            seen=f"KMP_DUPLICATE_LIB_OK={value}",
            expected="no such variable, and one runtime",
            help="unset it; where the error comes back, install NumPy and PyTorch anew, from one source",
            confidence=0.8,
        )
