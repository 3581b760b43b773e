"""A package was compiled for another NumPy than the installed one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import FOR_OTHER_NUMPY, Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CompiledForOtherNumpy(Rule):
    """A package was compiled for another NumPy than the installed one.

    ## What it checks
    What packages say as they are imported, and whether torch takes an array of NumPy's and gives one back.

    ## Why it matters
    Arrays cannot be handed over: observations never reach the network. Some packages fail at their import, others
    later.

    ## Likely causes
    1. NumPy 2 was installed under packages of the time of NumPy 1. Confirm: the message names NumPy 1.x, or a size that
       changed.
    2. Packages of pip and of conda are mixed. Confirm: compare the folders that `pip list -v` names.

    ## What to try first
    Install the package anew in a newer version, or numpy below 2.

    ## When it is fine
    Never.

    ## References
    NumPy 2.0, *Migration guide*; NumPy, *Troubleshooting: ABI mismatch*.
    """

    code: ClassVar[str] = "INS709"
    name: ClassVar[str] = "compiled-for-other-numpy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        numpy = evidence.package("numpy")
        bad = {name: said for name, said in evidence.imports.items() if FOR_OTHER_NUMPY.search(said)}
        torch = evidence.torch
        if torch is not None and torch.numpy:
            bad = {"torch": torch.numpy, **bad}
        if not bad:
            return
        name, said = next(iter(bad.items()))
        yield self.finding(
            f"{', '.join(bad)} {'was' if len(bad) == 1 else 'were'} compiled for another NumPy than the installed one",
            seen=f"NumPy {numpy.version if numpy else 'is not installed'}; {name}: {said}",
            expected="packages that are compiled for the NumPy that is installed",
            help=f"pip install --upgrade {name}; where it has no newer version: pip install 'numpy<2'",
            confidence=0.95,
        )
